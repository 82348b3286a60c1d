import { agentName } from '#contract/names.ts';
import type { VerbLine } from './arguments.ts';
import { type FlagName, flagOf } from './flags.ts';

const program = `${agentName}.exe`;
const exitCodes = 'Exit code: 0 done, 1 not done; what is wrong and what helps is told on standard error.';

/** What --help prints: everything, or one verb. */
export function helpText(verbs: readonly VerbLine[], verb: VerbLine | undefined): string {
  return verb === undefined ? overview(verbs) : details(verb);
}

function overview(verbs: readonly VerbLine[]): string {
  return [
    `${program}: keeps a Windows host as its cluster wants it.`,
    '',
    `Usage: ${program} <verb> [--flag value]`,
    '',
    ...columns(verbs.map(({ name, summary }) => [name, summary])),
    '',
    `${program} <verb> --help tells the flags of a verb.`,
    exitCodes,
  ].join('\n');
}

function details({ name, summary, required, optional }: VerbLine): string {
  const usage = required.map(flag => ` --${flag} <${flagOf(flag).value}>`).join('');
  return [
    `${program} ${name}: ${summary}.`,
    '',
    `Usage: ${program} ${name}${usage}`,
    '',
    ...columns([...required.map(flagRow), ...optional.map(flagRow), flagRow('output')]),
    '',
    exitCodes,
  ].join('\n');
}

function flagRow(name: FlagName): [string, string] {
  const { value, help, usual } = flagOf(name);
  const spelled = name === 'output' ? '-o, --output' : `--${name}`;
  return [
    value === undefined ? spelled : `${spelled} <${value}>`,
    usual === undefined ? help : `${help} (${usual} when absent)`,
  ];
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
