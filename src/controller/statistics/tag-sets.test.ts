import { expect, it } from 'vitest';
import { taskId, workflowId } from '../../model/ids.ts';
import { statisticsLimits } from '../../model/limits.ts';
import { otherOf, prefixOf, shownTag, TagSets, tagKey } from './tag-sets.ts';

const w1 = workflowId(1);

it('tells tags apart whose names and values have an equals sign at another place', () => {
  const tags = new TagSets();
  tags.note(w1, taskId(1), { 'a=b': 'c' });
  tags.note(w1, taskId(2), { a: 'b=c' });
  const [first = '', second = ''] = [taskId(1), taskId(2)].flatMap((task) => tags.of(task));
  expect([shownTag(first), shownTag(second)]).toEqual(['a=b=c', 'a=b=c']);
  expect([first.startsWith(prefixOf('a')), second.startsWith(prefixOf('a'))]).toEqual([false, true]);
  expect([otherOf(first), otherOf(second)]).toEqual([tagKey('a=b', 'other'), tagKey('a', 'other')]);
});

it('leaves to `other` the values of a name that has too many, and no other name', () => {
  const tags = new TagSets();
  const most = statisticsLimits.tagValuesMax;
  for (let n = 1; n <= most + 1; n++) tags.note(w1, taskId(n), { own: String(n), same: 'x' });
  expect(tags.of(taskId(most)).map(shownTag)).toEqual([`own=${most}`, 'same=x']);
  expect(tags.of(taskId(most + 1)).map(shownTag)).toEqual(['own=other', 'same=x']);
});
