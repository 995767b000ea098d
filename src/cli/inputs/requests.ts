/** What tasks are to ask for besides what their definition says: from a file, from earlier workflows, or both. */
import { Issues } from '../../definition/issues.ts';
import { mergedRequests, parseRequests, type Requests } from '../../definition/requests.ts';
import { mergedResources, resourcesOf } from '../../definition/settings.ts';
import { DroverError } from '../../model/errors.ts';
import type { WorkflowSpec } from '../../protocol/spec.ts';
import type { Client } from '../../sdk/client.ts';
import { learn } from '../../sdk/learning.ts';
import { printable } from '../display/text.ts';
import type { CliEnv } from '../environment.ts';
import type { InputOptions } from './inputs.ts';
import { wholeText } from './whole-text.ts';

export type RequestOptions = Pick<InputOptions, 'resources' | 'learn'>;

const hints = {
  missingHint: "'drover resources ID --write-yaml FILE' writes one",
  largeHint: 'ask for resources by template, not by task',
};

export async function requestsIn(env: CliEnv, { resources: file }: RequestOptions): Promise<Requests> {
  if (file === undefined) return {};
  return parseRequests(await wholeText(env, file, { name: file, ...hints }), file);
}

/** The word of the file counts. `note` is told what came of learning. */
export async function withLearned(
  client: Client,
  name: string | undefined,
  given: Requests,
  { learn: isWanted }: RequestOptions,
  note: (text: string) => void,
): Promise<Requests> {
  if (isWanted !== true) return given;
  if (name === undefined) {
    throw new DroverError('bad-input', '--learn finds earlier workflows by their name, and this one has none', {
      hint: 'give all of them the same --name',
    });
  }
  const { requests, from } = await learn(client, name);
  const source = from.length === 0 ? undefined : from.join(', ');
  note(
    source === undefined
      ? `drover: nothing to learn from yet: no task of a workflow named ${printable(name)} has ended well`
      : `drover: tasks ask for what those of ${source} have used`,
  );
  return mergedRequests(requests, given);
}

/** Tasks of a list have no names of their own: what holds for all of them. */
export function specWith(spec: WorkflowSpec, { default: words }: Requests): WorkflowSpec {
  if (words === undefined) return spec;
  const resources = mergedResources(spec.resources ?? {}, resourcesOf(words, ['default'], new Issues()));
  return { ...spec, resources };
}
