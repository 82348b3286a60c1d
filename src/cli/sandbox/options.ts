import { Command as Commander } from 'commander';
import { AppError, shown } from '#base/errors.ts';
import { parseGoDuration } from '#base/go-duration.ts';
import { commanderOutput } from '../safe-text.ts';
import type { LiveTerminal } from '../terminal.ts';

export interface SandboxOptions {
  hosts: number;
  machines: number;
  /** `list` when only their names are wanted. */
  faults: readonly string[] | 'list';
  speed: number;
  exitWhenReady: boolean;
  serve: boolean;
  port: number | undefined;
  /** A file to write the kubeconfig to, beside the usual one. */
  kubeconfig: string | undefined;
  /** A file for what the operator logs. */
  log: string | undefined;
  timeoutMs: number;
}

const usual = { hosts: '6', machines: '2', speed: '2', timeout: '10m' };

/** How much more would bring any laptop to its knees. */
const [maxHosts, maxSpeed] = [500, 1000];

export function readSandboxOptions(
  words: readonly string[],
  terminal: Pick<LiveTerminal, 'out' | 'err'>,
): SandboxOptions {
  const given = parse(words, terminal);
  const options = {
    hosts: wholeNumber('--hosts', given['hosts'], maxHosts),
    machines: wholeNumber('--machines', given['machines'], maxHosts),
    faults: faultsFrom(given['faults']),
    speed: speedFrom(String(given['speed'])),
    exitWhenReady: given['exitWhenReady'] === true,
    serve: given['serve'] === true,
    port: given['port'] === undefined ? undefined : wholeNumber('--port', given['port'], 65_535),
    kubeconfig: textFrom(given['kubeconfig']),
    log: textFrom(given['log']),
    timeoutMs: timeoutFrom(String(given['timeout'])),
  };
  if (options.exitWhenReady && options.serve)
    throw usage('--exit-when-ready and --serve say the opposite of each other', 'Give one of them.');
  if (options.hosts + options.machines === 0)
    throw usage('there is neither a host nor a Machine', 'Give --hosts or --machines a number above 0.');
  return options;
}

function parse(words: readonly string[], terminal: Pick<LiveTerminal, 'out' | 'err'>): Record<string, unknown> {
  const command = new Commander('wmco sandbox')
    .description('A cluster, the operator and simulated Windows hosts in one process, to look at and to play with.')
    .option('--hosts <number>', 'hosts that are listed in windows-instances', usual.hosts)
    .option('--machines <number>', 'Machines of a MachineSet', usual.machines)
    .option('--faults [list]', 'what is wrong with them: FAULT@HOST,...; without a list, which faults there are')
    .option('--speed <factor>', 'how much faster simulated work goes', usual.speed)
    .option('--exit-when-ready', 'end when every host is Ready or has failed for good')
    .option('--serve', 'stay until told to stop, even without a terminal')
    .option('--port <number>', 'of the API server; any free one when absent')
    .option('--kubeconfig <file>', 'write the kubeconfig there, too')
    .option('--log <file>', 'write the log of the operator there')
    .option('--timeout <duration>', 'how long hosts may take', usual.timeout)
    .allowExcessArguments(false)
    .addHelpText('after', helpEnd)
    .exitOverride()
    .configureOutput(commanderOutput(terminal));
  return command.parse([...words], { from: 'user' }).opts();
}

const helpEnd = `
On a terminal it stays when all are Ready; elsewhere it ends, unless --serve is given.

Examples:
  wmco sandbox
  wmco sandbox --hosts 20 --machines 0 --speed 5 --exit-when-ready
  wmco sandbox --faults wrong-key@win-2,slow-disk@win-5,no-admin@machine-1

Exit code: 0 all are Ready, 1 some are not, 2 wrong use.`;

function wholeNumber(name: string, value: unknown, highest: number): number {
  const text = String(value);
  const number = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (number >= 0 && number <= highest) return number;
  throw usage(`${name} is ${shown(text)}, not a whole number up to ${highest}`, `Give ${name} a number such as 6.`);
}

function speedFrom(text: string): number {
  const speed = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (speed > 0 && speed <= maxSpeed) return speed;
  throw usage(
    `--speed is ${shown(text)}, not a number above 0 and up to ${maxSpeed}`,
    'Give 1, 0.5 or 10, for example.',
  );
}

function timeoutFrom(text: string): number {
  const ms = parseGoDuration(text) ?? 0;
  if (ms >= 1000) return ms;
  throw usage(`--timeout is ${shown(text)}, not a duration of a second or more`, 'Give 90s or 10m, for example.');
}

function faultsFrom(value: unknown): SandboxOptions['faults'] {
  if (value === undefined) return [];
  const list = typeof value === 'string' ? value.split(',').map(word => word.trim()) : [];
  const named = list.filter(word => word !== '');
  return named.length === 0 || named.includes('help') || named.includes('list') ? 'list' : named;
}

function textFrom(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function usage(message: string, remedy: string): AppError {
  return new AppError('USAGE', message, { remedy: `${remedy} See \`wmco sandbox --help\`.` });
}
