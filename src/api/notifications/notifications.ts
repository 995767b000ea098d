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
  // What was not noted is found by the next controller, from the cursor on.
  const onError = (error: unknown): void => options.log.error({ err: error }, 'a notification could not be noted');
  const watch = new NoticeWatch(options.shell, () => courier.wake(), onError);
  await watch.start();
  courier.wake();
  return {
    close: async () => {
      await watch.stop().catch(onError);
      await courier.close();
    },
  };
}
