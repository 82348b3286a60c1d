import type { CompletedCommand, CompletedFlag, Value } from './tree.ts';
import { fishQuote } from '../shell-quote.ts';

export function fishScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => path);
  // The path of a command without a parent starts with a blank.
  const steps = paths.map(path => fishQuote(path.includes(' ') ? path : ` ${path}`));
  return [
    '# fish completion of wmco. Load it with: wmco completion fish | source',
    '',
    ...commandFunction(steps),
    ...functions,
    'complete -c wmco -f',
    ...commands.flatMap(completeLines),
    '',
  ].join('\n');
}

function commandFunction(steps: readonly string[]): string[] {
  return [
    '# The command before the cursor, such as "render services".',
    'function __wmco_command',
    "    set -l subcommand ''",
    '    for word in (commandline -opc)[2..-1]',
    '        switch "$subcommand $word"',
    "            case '* help'",
    '                continue',
    `            case ${steps.join(' ')}`,
    '                set subcommand (string trim "$subcommand $word")',
    "            case '*'",
    '                break',
    '        end',
    '    end',
    '    echo $subcommand',
    'end',
    '',
  ];
}

const functions = [
  'function __wmco_at',
  '    test (__wmco_command) = "$argv"',
  'end',
  '',
  'function __wmco_hosts',
  '    set -l words (commandline -opc)',
  '    $words[1] __complete hosts $words[3..-1] 2>/dev/null',
  'end',
  '',
  'function __wmco_faults',
  '    set -l words (commandline -opc)',
  "    $words[1] __complete faults (commandline -ct | string replace -r '^--faults=' '') 2>/dev/null",
  'end',
  '',
];

function completeLines({ path, commands, flags, argument }: CompletedCommand): string[] {
  const at = `complete -c wmco -n ${fishQuote(`__wmco_at "${path}"`)}`;
  return [
    ...commands.map(({ name, summary }) => `${at} -a ${name} -d ${fishQuote(summary)}`),
    ...flags.map(flag => `${at}${flagOptions(flag)} -d ${fishQuote(flag.help)}`),
    ...(argument?.is === 'hosts' ? [`${at} -a '(__wmco_hosts)'`] : []),
  ];
}

function flagOptions({ name, short, value }: CompletedFlag): string {
  return `${short === undefined ? '' : ` -s ${short}`} -l ${name}${value === undefined ? '' : valueOptions(value)}`;
}

function valueOptions(value: Value): string {
  if (value.is === 'words') return ` -x -a ${fishQuote(value.words.join(' '))}`;
  return otherValues[value.is];
}

const otherValues: Readonly<Record<Exclude<Value['is'], 'words'>, string>> = {
  files: ' -r -F',
  folders: " -x -a '(__fish_complete_directories)'",
  faults: " -x -a '(__wmco_faults)'",
  hosts: " -x -a '(__wmco_hosts)'",
  any: ' -x',
};
