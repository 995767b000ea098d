/**
 * Who is told what of a workflow: webhooks, by the controller, wherever the submitter is by then; a command and the bell
 * of the terminal, by the command that waits, where it runs.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DroverError } from '../model/errors.ts';
import { notifyCommandMsMax } from '../model/limits.ts';
import { isEndedWorkflow } from '../model/states.ts';
import { printDurationMs } from '../model/units.ts';
import { canFail, isWebAddress, whyUnreachable } from '../protocol/notification.ts';
import type { Notification } from '../protocol/spec.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
import { ringBell } from './bell.ts';
import type { CliEnv } from './environment.ts';
import { bellOption, filled } from './options.ts';

type Occasion = Notification['on'];

export interface NotifyOptions {
  readonly notifyUrl?: readonly string[];
  readonly notifyOn?: readonly Occasion[];
  readonly notifyCommand?: string;
  readonly bell?: boolean;
}

/** Signs what webhooks get. No option: arguments are seen by everybody on the machine. */
const secretVariable = 'DROVER_NOTIFY_SECRET';

const occasionOption = () =>
  new Option('--notify-on <list>', 'when: end, first-failure, failed:10, failed:5% (default: end)').argParser(
    occasions,
  );

export const addWebhooks = (command: Command): Command =>
  command
    .option(
      '--notify-url <url>',
      `the server posts JSON there, signed with $${secretVariable}; may be repeated`,
      collect,
    )
    .addOption(occasionOption())
    .hook('preAction', mustTellSomebody);

export const addLocalNotifications = (command: Command): Command =>
  command
    .option('--notify-command <command>', 'run this here then, with $DROVER_EVENT, …', filled)
    .addOption(bellOption());

export const addOccasions = (command: Command): Command =>
  command.addOption(occasionOption()).hook('preAction', mustTellSomebody);

/** An occasion without anybody to be told of it would pass in silence. */
function mustTellSomebody(command: Command): void {
  const { notifyOn, notifyUrl, notifyCommand, bell } = command.opts<NotifyOptions>();
  if (notifyOn === undefined || notifyUrl !== undefined || notifyCommand !== undefined || bell) return;
  const ways = ['--notify-url', '--notify-command', '--bell'].filter((flag) =>
    command.options.some(({ long }) => long === flag),
  );
  throw new DroverError('bad-input', '--notify-on says when, and nothing says who is told', {
    hint: `with it goes ${ways.join(' or ')}`,
  });
}

function collect(text: string, before: readonly string[] = []): string[] {
  if (!isWebAddress(filled(text))) {
    throw new InvalidArgumentError('It is an address of http or https, for example https://example.org/hook.');
  }
  const why = whyUnreachable(text);
  if (why !== undefined) throw new InvalidArgumentError(`${why}.`);
  return [...before, text];
}

function occasions(text: string): Occasion[] {
  return text.split(',').map((word) => {
    if (word === 'end' || word === 'first-failure') return word;
    const failed = /^failed:(\d{1,8}|\d{1,3}(?:\.\d{1,3})?%)$/.exec(word)?.[1];
    if (failed === undefined || Number.parseFloat(failed) === 0) {
      throw new InvalidArgumentError('It is a list of end, first-failure, failed:10, failed:5%.');
    }
    const asked = failed.endsWith('%') ? failed : Number(failed);
    if (!canFail(asked)) throw new InvalidArgumentError('More than 100 % can not fail.');
    return { failed: asked };
  });
}

/** For the specification of a workflow. */
export function webhooksOf(
  { variables }: CliEnv,
  { notifyUrl = [], notifyOn = ['end'] }: NotifyOptions,
): Notification[] {
  const secret = variables[secretVariable] ? { secret: variables[secretVariable] } : {};
  return notifyUrl.flatMap((webhook) => notifyOn.map((on) => ({ on, webhook, ...secret })));
}

/** Tells each occasion once, as the views of a run go by. */
export class LocalNotifier {
  private readonly env: CliEnv;
  private readonly options: NotifyOptions;
  private readonly told = new Set<Occasion>();
  private telling: Promise<void> = Promise.resolve();

  constructor(env: CliEnv, options: NotifyOptions) {
    this.env = env;
    this.options = options;
  }

  look(view: WorkflowView): void {
    const { notifyOn = ['end'], notifyCommand, bell } = this.options;
    if (notifyCommand === undefined && !bell) return;
    for (const occasion of notifyOn) {
      if (this.told.has(occasion) || !isReached(occasion, view)) continue;
      this.told.add(occasion);
      this.telling = this.telling.then(() => this.tell(occasion, view));
    }
  }

  /** Resolves when all that there was to tell is told. */
  settled(): Promise<void> {
    return this.telling;
  }

  private async tell(occasion: Occasion, view: WorkflowView): Promise<void> {
    const { env } = this;
    const { notifyCommand, bell } = this.options;
    if (bell) await ringBell(env, `${view.id} ${describe(occasion, view)}`);
    if (notifyCommand === undefined) return;
    const { id, name = '', state, counts } = view;
    const variables = {
      DROVER_EVENT: typeof occasion === 'string' ? occasion : 'failed',
      DROVER_WORKFLOW: id,
      DROVER_NAME: name,
      DROVER_STATE: state,
      DROVER_TOTAL: String(counts.total),
      DROVER_DONE: String(counts.done),
      DROVER_FAILED: String(counts.failed),
    };
    const code = await env.runShell(notifyCommand, variables, notifyCommandMsMax);
    if (code === 0) return;
    const how =
      code === 'too-long'
        ? `took longer than ${printDurationMs(notifyCommandMsMax)}, and was ended`
        : `ended with ${code}`;
    await env.stderr.write(`drover: --notify-command ${how}\n`).catch(() => undefined);
  }
}

function isReached(occasion: Occasion, { state, counts: { failed, total } }: WorkflowView): boolean {
  if (occasion === 'end') return isEndedWorkflow(state);
  if (occasion === 'first-failure') return failed > 0;
  const { failed: most } = occasion;
  if (typeof most === 'number') return failed >= most;
  return failed > 0 && failed * 100 >= Number.parseFloat(most) * total;
}

const describe = (occasion: Occasion, { state, counts: { failed, total } }: WorkflowView): string =>
  occasion === 'end' ? `is ${state}` : `has ${failed} of ${total} tasks failed`;
