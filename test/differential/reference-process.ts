/** A small process that starts shells: to fork the one that runs the tests takes several times as long. */

import { keepDescriptors, runByShell } from './reference.ts';
import type { Run } from './run.ts';

keepDescriptors();
process.on('message', ({ id, run }: { id: number; run: Run }) => {
  void runByShell(run).then((end) => process.send?.({ id, end }));
});
