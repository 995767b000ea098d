/** What definers are told while they are away: found in the history, noted, told to their webhooks. */
import { Courier, type CourierOptions } from './courier.ts';
import { NoticeWatch } from './watch.ts';

export interface Notifications {
  /** Tells what can be told at once; the rest is told by the next controller. */
  close(): Promise<void>;
}

/** Resolves when what happened while no controller was there is noted. */
export async function startNotifications(options: CourierOptions): Promise<Notifications> {
  const courier = new Courier(options);
  const watch = new NoticeWatch(options.shell, () => courier.wake());
  await watch.start();
  courier.wake();
  return {
    close: async () => {
      await watch.settled();
      watch.stop();
      await courier.close();
    },
  };
}
