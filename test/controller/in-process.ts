/**
 * A controller with one worker in the process of the test, all of it real but what would leave the process: the store
 * and the files of output are in memory, and the worker's spawner is scripted (scripted-spawner.ts says how tasks go).
 * Clients come over HTTP, the worker over WebSockets, as they do elsewhere (src/main/host.ts).
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Attendance } from '../../src/api/attendance.ts';
import { EventStreams } from '../../src/api/events/streams.ts';
import { Gate, type GateOptions } from '../../src/api/gate.ts';
import { admitLink } from '../../src/api/links.ts';
import { createApi } from '../../src/api/server.ts';
import { defaultSettings } from '../../src/controller/reactor.ts';
import { recoverController } from '../../src/controller/recover.ts';
import type { ControllerShell, OutputPacks } from '../../src/controller/shell.ts';
import type { WorkflowId } from '../../src/model/ids.ts';
import { presets, type Timeouts } from '../../src/model/timeouts.ts';
import type { CompilePattern, Log } from '../../src/platform/env.ts';
import { realClock } from '../../src/platform/node/clock.ts';
import { compilePattern } from '../../src/platform/node/patterns.ts';
import * as secrets from '../../src/platform/node/secrets.ts';
import { acceptLinks, webSocketNet } from '../../src/platform/node/sockets.ts';
import type { TaskSpec, WorkflowSpec } from '../../src/protocol/spec.ts';
import { pause } from '../../src/sdk/pause.ts';
import { MemoryDisk } from '../../src/store/memory/store.ts';
import type { Store } from '../../src/store/store.ts';
import { WorkerShell } from '../../src/worker/shell.ts';
import { MemoryOutputFiles, memoryOutputPacks } from './memory-files.ts';
import { ScriptedSpawner } from './scripted-spawner.ts';

export interface InProcessController {
  readonly access: { readonly url: string; readonly token: string };
  readonly shell: ControllerShell;
  /** What clients asked for so far, for example `GET /api/v1/workflows/w1?after=3`. */
  readonly requests: readonly string[];
  /** As the program has it. */
  readonly compilePattern: CompilePattern;
  /** All routes of the API, for example `GET /api/v1/server`. */
  readonly routes: readonly string[];
  /** What was submitted as this workflow. */
  definitionOf(workflow: WorkflowId): Promise<Definition>;
  /** Ends the worker, then the controller; throws when either logged an error. */
  close(): Promise<void>;
}

export interface Definition {
  readonly spec: WorkflowSpec | undefined;
  readonly tasks: readonly TaskSpec[];
}

const slots = 4;
const capacity = { queue: 'default', pools: { licences: 8 } };

export interface StartOptions {
  /** How often a token, or an address, may ask. */
  readonly rates?: GateOptions['rates'];
  /** Whether it has a native worker; it has one by default. */
  readonly hasWorker?: boolean;
  /** Patient ones by default where it has a worker: the loop of a test on a busy machine may stand still for seconds. */
  readonly timeouts?: Timeouts;
  /** What outlives it, for the one that is started after it. */
  readonly remains?: Remains;
}

export interface Remains {
  readonly disk: { open(): Store };
  readonly packs: OutputPacks;
}

export const newRemains = (): Remains => ({ disk: new MemoryDisk(randomUUID()), packs: memoryOutputPacks() });

export async function startController({
  rates,
  hasWorker = true,
  timeouts = hasWorker ? presets.cluster : defaultSettings.timeouts,
  remains = newRemains(),
}: StartOptions = {}): Promise<InProcessController> {
  const faults: string[] = [];
  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (facts, message) => faults.push(`${message}: ${JSON.stringify(facts)}`),
  };
  const store = remains.disk.open();
  let isDead = false;
  const onFatal = (error: unknown): never => {
    isDead = true;
    // Where a process would end: the runner reports it, and nothing of this controller goes on.
    throw error;
  };
  const world = { clock: realClock(), store, packs: remains.packs, log, defer: setImmediate, onFatal };
  const settings = { ...defaultSettings, timeouts };
  const shell = await recoverController(world, randomUUID(), settings);
  const tokens = { admin: secrets.newToken(), worker: secrets.newToken() };
  const attendance = new Attendance();
  const gate = new Gate({
    secrets,
    clock: world.clock,
    own: tokens,
    tokens: shell.controller.tokens,
    ...(rates === undefined ? {} : { rates }),
  });
  const routes: string[] = [];
  const onRoute = (route: string): void => void routes.push(route);
  const streams = new EventStreams(shell);
  const api = createApi({ shell, attendance, gate, streams, compilePattern, version: '1.2.3', onRoute });
  const links = acceptLinks(api.server, {
    admit: (visitor) => admitLink({ shell, gate, streams }, visitor),
    // A client that is refused a stream is no fault.
    onTrouble: (facts, message) => ('path' in facts && String(facts.path).includes('/events/')) || faults.push(message),
  });
  const requests: string[] = [];
  api.server.on('request', ({ method, url }) => requests.push(`${method} ${url}`));
  await api.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;
  const worker = hasWorker ? startWorker({ url, token: tokens.worker }, log) : undefined;
  // Its two links are open: what is half open could not be closed.
  for (; hasWorker && shell.controller.sessions.connected < 2; await pause(1)) mustBeFlawless(faults);
  return {
    access: { url, token: tokens.admin },
    shell,
    requests,
    compilePattern,
    routes,
    definitionOf: async (workflow) => {
      const tasks = await shell.read((cluster) => [...cluster.workflow(workflow).tasks()]);
      const definitions = await store.definitions(tasks);
      return { spec: await store.workflowSpec(workflow), tasks: definitions.map(({ spec }) => spec) };
    },
    close: async () => {
      worker?.stop();
      if (!isDead) await shell.close();
      links.closeAll();
      await api.close();
      await store.close();
      mustBeFlawless(faults);
    },
  };
}

function mustBeFlawless(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`the controller or its worker failed: ${faults.join('; ')}`);
}

function startWorker(address: { readonly url: string; readonly token: string }, log: Log): WorkerShell {
  const clock = realClock();
  const files = new MemoryOutputFiles();
  let spawner: ScriptedSpawner | undefined;
  return new WorkerShell(
    {
      clock,
      net: webSocketNet,
      log,
      files,
      random: Math.random,
      address: () => address,
      startSpawner: (listener) => {
        spawner = new ScriptedSpawner(files, clock.now, listener);
        return spawner;
      },
      onConnection: () => {},
      exit: ({ end, why }, sayGoodbye) => {
        if (end !== 'stopped' && end !== 'dismissed') log.error({ why }, 'the worker ended by itself');
        spawner?.stop();
        sayGoodbye();
      },
    },
    {
      identity: { shard: 'test', lock: 'test', instance: randomUUID(), host: 'here', pid: process.pid },
      slots,
      capacity,
      directory: '/worker',
      tag: '/worker',
      now: clock.now(),
      isPatient: false,
      environment: [],
    },
  );
}
