/** Starting over from a store: what is loaded is then driven by the code that runs live. */
import { loadCluster } from '../store/load.ts';
import { ControllerShell, type ControllerWorld } from './shell.ts';

/** `scheduler`: unique to this process, so that workers know that they have a new controller. */
export async function recoverController(world: ControllerWorld, scheduler: string): Promise<ControllerShell> {
  const cluster = await loadCluster(world.store, world.clock.now());
  const outputEnd = await world.store.outputEnd();
  return new ControllerShell(world, { cluster, scheduler, outputEnd });
}
