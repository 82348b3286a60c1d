import { allCalls } from '../src/agent/win32/all-calls.ts';
import type { CallTable, Proof } from '../src/agent/win32/native.ts';
import { programs } from '../src/agent/win32/process/programs.ts';

const proofs: Record<Proof, string> = {
  wine: 'Wine',
  double: 'Wine, with a double of ours behind it',
  reading: 'reading only',
};

/** docs/windows-api.md: everything the agent asks of Windows, from the tables of its bindings. */
export function windowsApiPage(): string {
  return [
    '# What the agent asks of Windows',
    '',
    'Generated from the `calls.ts` files of `src/agent/win32/` and `src/agent/win32/process/programs.ts` by `npm run generate`; a binding that is not in',
    'those tables does not exist. How it is tested: **Wine** means that the real call is made in a test on a Wine host; **with a',
    'double of ours behind it** that Wine lacks the function or the program and the test has one that behaves as documented;',
    '**reading only** that nothing here can carry it out, so it was checked against the documentation of Windows by eye.',
    '',
    ...Object.entries(allCalls).flatMap(([about, calls]) => callSection(about, calls)),
    '## Programs',
    '',
    'They are run by their full path below the directory of Windows and ended after the time given.',
    '',
    '| program | arguments | why | limit | tested on |',
    '|---|---|---|---|---|',
    ...Object.values(programs).map(
      ({ program, arguments: words, why, limitMs, proof }) =>
        `| \`${program}\` | \`${words.join(' ')}\` | ${why} | ${limitMs / 1000} s | ${proofs[proof]} |`,
    ),
    '',
  ].join('\n');
}

function callSection(about: string, calls: CallTable): string[] {
  const rows = Object.entries(calls).map(
    ([name, { dll, why, proof }]) => `| \`${name}\` | ${dll} | ${why} | ${proofs[proof]} |`,
  );
  return [`## ${about}`, '', '| function | library | why | tested on |', '|---|---|---|---|', ...rows, ''];
}
