/** Workflows as values: the document that they come to. */
import { describe, expect, it } from 'vitest';
import { any, command, join, type TemplateOptions, template } from './task-nodes.ts';
import { Workflow, type WorkflowOptions } from './workflow.ts';

const setting = {
  digest: (text: string): string => text,
  surroundings: () => ({ cwd: '/me', shell: '/bin/sh', env: {} }),
  connect: (): never => {
    throw new Error('nobody is asked');
  },
};
const workflow = (name: string, options: WorkflowOptions = {}): Workflow => new Workflow(setting, name, options);

describe('a workflow', () => {
  it('has its tasks, and by itself all that they run after, each once', () => {
    const fetch = template('fetch', 'fetch {what}');
    const a = fetch.task({ what: 'a' }, { name: 'a' });
    const b = fetch.tasks({ what: ['b', 'c'] }, { name: 'b', after: a.failed });
    const both = join('both', [a, any(b)]);
    const last = command('last', 'x', { after: [both, b, { workflow: 'w3', task: 5 }], retries: 2 });
    expect(workflow('n').add(last, a).definition()).toEqual({
      name: 'n',
      templates: { fetch: { command: 'fetch {what}' } },
      tasks: [
        { name: 'a', template: 'fetch', args: { what: 'a' } },
        { name: 'b', template: 'fetch', args: { what: ['b', 'c'] }, after: [{ task: 'a', on: 'failure' }] },
        { name: 'both', after: ['a', { task: 'b', on: 'any' }] },
        { name: 'last', command: 'x', after: ['both', 'b', { workflow: 'w3', task: 5 }], retries: 2 },
      ],
    });
  });

  it('tells what is wrong with it by the compiler of all definitions', () => {
    const a = command('a', 'x {y}', { after: 'nothing' });
    expect(() => workflow('n').add(a).compile()).toThrow('n: tasks[0]: the placeholder {y} has no value');
  });

  it('is not closed before it is submitted', () => {
    expect(() => workflow('n', { open: true }).close()).toThrow('it was not submitted');
  });
});

describe('a scale that is a function', () => {
  const scaled = (resources: TemplateOptions['resources']) =>
    template('t', 'x', resources === undefined ? {} : { resources }).words.resources;

  it('is asked for its values, until they no longer grow', () => {
    const scales = {
      memory: (bytes: number) => Math.min(2 * bytes, 6e9),
      walltime: (ms: number, attempt: number) => (attempt > 3 ? ms : ms + 1_000 * attempt),
    };
    expect(scaled({ memory: '1GB', walltime: '1m', scales })).toEqual({
      ...{ memory: '1GB', walltime: '1m' },
      scales: { memory: ['2000000000', '4000000000', '6000000000'], walltime: ['62000ms', '65000ms'] },
    });
    expect(scaled({ memory: '1GB', scales: { memory: (bytes) => bytes + 1 } })?.scales?.memory).toHaveLength(64);
  });

  it('has to have something to begin with, and to make more of it', () => {
    expect(() => scaled({ scales: { memory: (bytes) => 2 * bytes } })).toThrow(
      'there is no memory for it to begin with',
    );
    expect(() => scaled({ memory: '1GB', scales: { memory: (bytes) => bytes } })).toThrow('does not make more of 1GB');
  });
});
