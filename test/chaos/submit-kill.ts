/**
 * The server is killed in the very moment in which a submission was acknowledged; the next one must have all of it.
 * No worker is there, so that nothing but the store can tell.
 */
import { plainSpec } from '../controller/spec.ts';
import { Chance } from './chance.ts';
import { Herd } from './herd.ts';

export interface SubmitKillOptions {
  readonly seed: number;
  /** Acknowledged to this process, and killed in the same turn of its loop. */
  readonly bySdk: number;
  /** Acknowledged by what `drover submit` prints. */
  readonly byCommand: number;
}

export interface SubmitKills {
  readonly seed: number;
  readonly tookMs: number;
  readonly folder: string;
  /** By what had been acknowledged when it was killed. */
  readonly kills: Readonly<Record<Acknowledged, number>>;
  readonly tasks: number;
  readonly faults: readonly string[];
}

type Acknowledged = 'tasks' | 'workflow' | 'command';

interface Submitted {
  readonly id: string;
  readonly commands: readonly string[];
  /** Whether it was closed; else it is still registering. */
  readonly isClosed: boolean;
}

const tasksMax = 20;

export async function submitKills(options: SubmitKillOptions): Promise<SubmitKills> {
  const herd = new Herd(1);
  try {
    return await submitKillsWith(herd, options);
  } catch (error) {
    herd.abandon();
    throw new Error(`seed ${options.seed}, see ${herd.folder}`, { cause: error });
  }
}

async function submitKillsWith(herd: Herd, { seed, bySdk, byCommand }: SubmitKillOptions): Promise<SubmitKills> {
  const begunAt = Date.now();
  const chance = new Chance(seed);
  const kills = { tasks: 0, workflow: 0, command: 0 };
  const submitted: Submitted[] = [];
  await herd.start(0);
  for (let left = bySdk + byCommand, commands = byCommand; left > 0; left--) {
    const isCommand = chance.next() * left < commands;
    if (isCommand) commands--;
    const how: Acknowledged = isCommand ? 'command' : chance.isOneIn(4) ? 'tasks' : 'workflow';
    kills[how]++;
    const size = 1 + Math.floor(chance.next() * tasksMax);
    const given = Array.from({ length: size }, (_, at) => `true ${kills[how]}.${at + 1}`);
    const last = how === 'command' ? await killAfterCommand(herd, given) : await killAfterAnswer(herd, given, how);
    submitted.push(last);
    await herd.ready();
    herd.faults.push(...(await missing(herd, last)));
  }
  // Once more at the end: no later crash may have undone it.
  for (const each of submitted) herd.faults.push(...(await missing(herd, each)));
  await herd.stop();
  if (herd.faults.length === 0) herd.remove();
  const tasks = submitted.reduce((sum, { commands }) => sum + commands.length, 0);
  return { seed, tookMs: Date.now() - begunAt, folder: herd.folder, kills, tasks, faults: herd.faults };
}

const strikeServer = (herd: Herd): Promise<void> => herd.strike('controller', [{ pid: herd.serverPid }]);

async function killAfterAnswer(herd: Herd, commands: readonly string[], which: Acknowledged): Promise<Submitted> {
  const client = herd.client();
  if (client === undefined) throw new Error('the server is ready without an access file');
  const isClosed = which === 'workflow';
  const { id } = await client.register(plainSpec);
  const added = client.extend(id, { tasks: commands.map((command) => ({ command })), edges: [] });
  const acknowledged = isClosed ? added.then(() => client.close(id)) : added;
  await acknowledged.then(() => strikeServer(herd));
  return { id, commands, isClosed };
}

async function killAfterCommand(herd: Herd, commands: readonly string[]): Promise<Submitted> {
  const submitting = herd.begin(['submit', '-'], commands.join('\n'));
  await new Promise<void>((done) => {
    submitting.child.stdout?.once('data', () => void strikeServer(herd).then(done));
    void submitting.ended.then(() => done());
  });
  const { code, stdout, stderr } = await submitting.ended;
  const id = /^(w\d+)\n$/.exec(stdout)?.[1];
  if (id === undefined) throw new Error(`drover submit was not answered: ${stdout}${stderr}`);
  if (code !== 0) herd.faults.push(`drover submit printed ${id}, and ended with ${code}: ${stderr}`);
  return { id, commands, isClosed: true };
}

async function missing(herd: Herd, { id, commands, isClosed }: Submitted): Promise<string[]> {
  try {
    const client = herd.client();
    const view = await client?.workflow(id);
    const found = (await client?.tasksOf(id, { limit: tasksMax }))?.tasks.map(({ command }) => command) ?? [];
    const faults: string[] = [];
    const isAsLeft = isClosed ? view?.state !== 'registering' && view?.state !== 'aborted' : view !== undefined;
    if (!isAsLeft) faults.push(`${id} was acknowledged, and is ${view?.state}`);
    if (found.join() !== commands.join()) faults.push(`${id} had [${commands}] acknowledged, and has [${found}]`);
    return faults;
  } catch (error) {
    return [`${id} was acknowledged, and can't be read: ${String(error)}`];
  }
}

export function printSubmitKills({ seed, tookMs, kills, tasks, faults, folder }: SubmitKills): string {
  return [
    `seed ${seed}: ${faults.length === 0 ? 'passed' : 'FAILED'} in ${(tookMs / 1_000).toFixed(1)} s`,
    `${kills.tasks + kills.workflow + kills.command} kills right after an acknowledgement, ${tasks} tasks, ${faults.length} missing`,
    `  when the workflow was answered: ${kills.workflow}`,
    `  when its tasks were answered:   ${kills.tasks}`,
    `  when 'drover submit' printed:   ${kills.command}`,
    ...(faults.length === 0 ? [] : ['', `wrong (see ${folder}):`, ...faults.map((fault) => `  ${fault}`)]),
    '',
  ].join('\n');
}
