import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { membersAt, momentOf, readEntries, withoutMembers } from '../../../../src/agents/rules/others-entry.ts';

const FIELDS = { agents: 'active_agents', agentType: 'agent_type', taskId: 'task_id', startedAt: 'started_at' };
const entries = (text: string, fields = FIELDS) => readEntries(text, fields);

describe('reading the state file of somebody else', () => {
  test('an entry is a pid, a type, a task and a time', () => {
    const text = JSON.stringify({
      active_agents: { '2194': { agent_type: 'architect', task_id: 'SPEC-111', started_at: '2026-01-02T03:04:05Z' } },
    });
    expect(entries(text)).toMatchObject({
      kind: 'entries',
      odd: [],
      entries: [{ key: '2194', pid: 2194, type: 'architect', task: 'SPEC-111', startedAt: { latest: 1767323045000 } }],
    });
  });

  test('the names of its fields are those of the configuration, and dots lead into inner objects', () => {
    const text = JSON.stringify({ pool: { workers: { '77': { role: 'coder', ticket: 12, since: 1767323045 } } } });
    const fields = { agents: 'pool.workers', agentType: 'role', taskId: 'ticket', startedAt: 'since' };
    expect(entries(text, fields)).toMatchObject({
      entries: [{ pid: 77, type: 'coder', task: '12', startedAt: { earliest: 1767323045000 } }],
    });
  });

  test('entries that are kept by another name may have their pid inside', () => {
    expect(entries('{"active_agents":{"SPEC-1":{"pid":77},"SPEC-2":{"pid":"78"}}}')).toMatchObject({
      entries: [
        { key: 'SPEC-1', pid: 77 },
        { key: 'SPEC-2', pid: 78 },
      ],
    });
  });

  test.each(['0', '-1', '1', '1.5', '01', ' 7', '4194305', '1e3', 'x', '__proto__'])(
    '"%s" is no process of an agent',
    (key) => {
      expect(entries(`{"active_agents":{${JSON.stringify(key)}:{"agent_type":"a"}}}`)).toMatchObject({
        entries: [],
        odd: [key],
      });
    },
  );

  test.each([
    ['', 'is empty'],
    ['{"active_agents": {"12": {"agent_ty', 'is no JSON document'],
    ['[]', 'has no object "active_agents"'],
    ['{"active_agents": []}', 'has no object "active_agents"'],
    ['{"active_agents": null}', 'has no object "active_agents"'],
    ['{"other": {}}', 'has no object "active_agents"'],
  ])('%j is not believed', (text, why) => {
    expect(entries(text)).toEqual({ kind: 'unreadable', why });
  });

  test('an entry that was written anew under the same key is another one', () => {
    const read = (started: string) => {
      const reading = entries(`{"active_agents":{"9":{"agent_type":"a","task_id":"t","started_at":"${started}"}}}`);
      return reading.kind === 'entries' ? reading.entries[0]!.id : '';
    };
    expect(read('2026-01-01T00:00:00Z')).not.toBe(read('2026-01-01T00:00:01Z'));
    expect(read('2026-01-01T00:00:00Z')).toBe(read('2026-01-01T00:00:00Z'));
  });
});

describe('cutting entries out of a file', () => {
  const FILE = `{
    "version": 12345678901234567890,
    "active_agents": {
        "300": {"task_id": "c", "note": "a } , \\" brace"},
        "20":  {"task_id": "b", "list": [1, {"x": []}]},
        "1000": {"task_id": "a"}
    },
    "rate": 1.0
}
`;
  test.each([
    [['300'], FILE.replace(/"300".*\n {8}/, '')],
    [['20'], FILE.replace(/"20":.*\n {8}/, '')],
    [['1000'], FILE.replace(/,\n {8}"1000".*/, '')],
    [['20', '1000'], FILE.replace(/,\n {8}"20":.*\n.*/, '')],
    [['300', '1000'], FILE.replace(/"300".*\n {8}/, '').replace(/,\n {8}"1000".*/, '')],
    [['300', '20', '1000'], FILE.replace(/\{\n {8}"300"[\s\S]*?\n {4}\}/, '{}')],
    [['7'], FILE],
  ])('without %j every other byte stays as it was', (keys, expected) => {
    expect(withoutMembers(FILE, 'active_agents', new Set(keys))).toBe(expected);
  });

  test('whatever the document, the rest means the same and keeps its order', () => {
    const member = fc.tuple(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(
        fc.uniqueArray(member, { selector: ([key]) => key }),
        fc.jsonValue(),
        fc.nat(3),
        fc.infiniteStream(fc.boolean()),
        (members, other, indent, drop) => {
          const lines = members.map(
            ([key, value]) => `${JSON.stringify(key)} : ${JSON.stringify(value, null, indent)}`,
          );
          const text = `{"a":${JSON.stringify(other)}, "b" :{ ${lines.join(' ,\n ')} }\n, "c":0}`;
          const gone = new Set(members.filter(() => drop.next().value).map(([key]) => key));
          const rest = withoutMembers(text, 'b', gone);
          const kept = members.filter(([key]) => !gone.has(key));
          expect(membersAt(rest, 'b')?.map(({ key }) => key)).toEqual(kept.map(([key]) => key));
          const parsed = JSON.parse(rest) as Record<string, unknown>;
          expect(parsed['a']).toEqual(JSON.parse(JSON.stringify(other)));
          for (const { key, valueStart, valueEnd } of membersAt(rest, 'b')!)
            expect(JSON.parse(rest.slice(valueStart, valueEnd))).toEqual(
              JSON.parse(JSON.stringify(kept.find(([name]) => name === key)![1])),
            );
        },
      ),
    );
  });
});

describe('when an agent was started, as somebody wrote it', () => {
  const AT = Date.parse('2026-01-02T03:04:05.678Z');
  test.each([
    ['2026-01-02T03:04:05.678Z', AT],
    ['2026-01-02T03:04:05.678901+00:00', AT],
    ['2026-01-02 05:04:05,678 +0200', AT],
    ['2026-01-02T03:04Z', Date.parse('2026-01-02T03:04:00Z')],
    [AT, AT],
    [AT / 1000, AT],
    [String(AT / 1000), AT],
  ])('%j is a moment', (written, at) => {
    expect(momentOf(written)).toEqual({ earliest: at, latest: at });
  });
  test('without a time zone it is one of two moments', () => {
    const { earliest, latest } = momentOf('2026-01-02T03:04:05.678901')!;
    const [utc, local] = [AT, Date.parse('2026-01-02T03:04:05.678')];
    expect([earliest, latest]).toEqual([Math.min(utc, local), Math.max(utc, local)]);
  });
  test.each(['yesterday', '', null, {}, -5, 0, Number.NaN, '2026-13-45T00:00:00Z', '12'])('%j is none', (written) => {
    expect(momentOf(written)).toBeNull();
  });
});
