/** The worker that a hosting command starts as its child. Compiled code is kept for the next start. */
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./worker-start.ts');
