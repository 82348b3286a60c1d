import { allCalls } from '../src/agent/win32/all-calls.ts';
import type { CallTable, Proof } from '../src/agent/win32/native.ts';
import { programs } from '../src/agent/win32/process/programs.ts';

const proofs: Record<Proof, string> = {
  wine: 'Wine',
  double: 'Wine, with a double',
  reading: 'reading only',
};

/** docs/windows-api.md, from the tables of the bindings. */
export function windowsApiPage(): string {
  return [
    '# Windows calls of the agent',
    '',
    'Generated from `src/agent/win32/all-calls.ts` and `src/agent/win32/process/programs.ts` by `npm run generate`. There are',
    'no other bindings.',
    '',
    '- **Wine**: a test makes the real call on a Wine host.',
    '- **Wine, with a double**: Wine lacks the function or the program, and the lab has a double that behaves as documented.',
    '- **reading only**: no test can run it; it was reviewed against the documentation of Windows.',
    '',
    ...Object.entries(allCalls).flatMap(([about, calls]) => callSection(about, calls)),
    '## Programs',
    '',
    'The agent runs them by their full path below the Windows directory and kills them after the limit.',
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
