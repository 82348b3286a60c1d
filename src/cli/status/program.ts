import { commandHelp } from '#base/command-line.ts';
import { errorText } from '../output.ts';
import { jsonText, oneLine, printable, type SafeText, safe, yamlText } from '../safe-text.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';
import { type ClusterReaderDeps, readCluster, watchCluster } from './cluster-reader.ts';
import { openClient } from './connection.ts';
import { checkOperator } from './missing-operator.ts';
import { readStatusOptions, statusLine, type StatusOptions } from './options.ts';
import { clusterLines } from './screen/budget-lines.ts';
import { type Display, displayOn, jsonDisplay, layoutFor, screenDisplay } from './screen/displays.ts';
import { follow } from './screen/follow.ts';
import { hostPage } from './screen/host-page.ts';
import { overview } from './screen/overview.ts';
import { clusterProblemLines, type ProblemLayout } from './screen/problems.ts';
import { selectHosts, selectKnownHosts } from './select-hosts.ts';
import { budgetOf, removedHostsOf } from './view/budget.ts';
import { hostViews } from './view/cluster-hosts.ts';
import { hostData, objectName } from './view/host-data.ts';
import { type ClusterView, type HostView, isGood } from './view/host-view.ts';
import { rolloutOf } from './view/rollout.ts';

const empty = safe``;

/** Runs `wmco status`. */
export async function statusProgram(words: readonly string[], terminal: LiveTerminal): Promise<ExitCode> {
  const options = readStatusOptions(words, terminal.environment);
  if (options === undefined) {
    terminal.out(printable(commandHelp(statusLine)));
    return 0;
  }
  const client = await openClient(options, terminal);
  try {
    const deps = { client, namespace: options.namespace, clock: terminal.clock };
    return options.watch ? await watch(deps, options, terminal) : await showOnce(deps, options, terminal);
  } finally {
    await client.close();
  }
}

async function showOnce(deps: ClusterReaderDeps, options: StatusOptions, terminal: LiveTerminal): Promise<ExitCode> {
  const view = await readCluster(deps, terminal.signal);
  await checkOperator(view, deps, terminal.signal);
  return showView(view, options, terminal);
}

type ShowOptions = Pick<StatusOptions, 'hosts' | 'form' | 'hasHeaders'>;

export function showView(view: ClusterView, options: ShowOptions, terminal: LiveTerminal): ExitCode {
  const all = hostViews(view);
  const { hosts, unknown } = selectKnownHosts(all, options.hosts, view);
  const data = () => ({
    hosts: hosts.map(hostData),
    rollout: rolloutOf(view),
    budget: budgetOf(view, all),
    removedHosts: removedHostsOf(view),
    clusterProblems: view.clusterProblems,
    notes: view.notes,
  });
  if (options.form === 'json') terminal.out(jsonText(data()), 'data');
  else if (options.form === 'yaml') terminal.out(yamlText(data()), 'data');
  else for (const line of textLines(hosts, view, options, terminal)) terminal.out(safe`${line}\n`);
  for (const error of unknown) terminal.err(safe`${errorText(error)}\n`);
  const isComplete = unknown.length === 0 && (hosts.length > 0 || view.hasOperator === 'yes');
  return isComplete && hosts.every(isGood) ? 0 : 1;
}

function textLines(
  hosts: readonly HostView[],
  view: ClusterView,
  options: ShowOptions,
  terminal: LiveTerminal,
): SafeText[] {
  if (options.form === 'name') return [...new Set(hosts.map(objectName))].map(oneLine);
  const hasPages = options.hosts.length > 0 && options.form === 'text';
  const lines = hasPages
    ? pages(hosts, terminal)
    : overview(hosts, { ...layoutFor(terminal), isWide: options.form === 'wide', hasHeaders: options.hasHeaders });
  if (!options.hasHeaders) return lines;
  const below = hasPages ? [] : clusterLines(view, hosts, terminal.clock.now());
  return [...clusterProblemLines(view.clusterProblems, layoutFor(terminal)), ...lines, ...below, ...noteLines(view)];
}

async function watch(deps: ClusterReaderDeps, options: StatusOptions, terminal: LiveTerminal): Promise<ExitCode> {
  const { signal, clock } = terminal;
  const { form } = options;
  await using cluster = await watchCluster(deps, signal);
  let view = cluster.view();
  await checkOperator(view, deps, signal);
  let { hosts } = selectKnownHosts(hostViews(view), options.hosts, view);
  const display = displayFor(options, terminal);
  const refresh = () => {
    view = cluster.view();
    hosts = selectHosts(hostViews(view), options.hosts);
    // Elsewhere, a line that changes by itself would be printed every second.
    const nowMs = form === 'json' || terminal.size() === undefined ? undefined : clock.now();
    const below = options.hosts.length > 0 || !options.hasHeaders ? [] : clusterLines(view, hosts, nowMs);
    if (form === 'json') display.show(hosts, [...jsonNotes(view), ...below]);
    else display.show(hosts, [...below, ...noteLines(view)], aboveHosts(view, options, terminal));
    return 'continue' as const;
  };
  try {
    await follow(refresh, { onChange: cluster.onChange, clock, signal });
  } finally {
    display.close(textLines(hosts, view, options, terminal));
  }
  return hosts.every(isGood) ? 0 : 1;
}

function displayFor({ form, hosts, hasHeaders }: StatusOptions, terminal: LiveTerminal): Display {
  if (form === 'json') return jsonDisplay(terminal);
  const hasPages = hosts.length > 0 && form === 'text' && terminal.size() !== undefined;
  return hasPages
    ? screenDisplay(terminal, (visible, _, above) => [...above, ...pages(visible, terminal, { wrapsCommands: true })])
    : displayOn(terminal, nowMs => new Date(nowMs).toISOString().slice(11, 19), {
        isWide: form === 'wide',
        hasHeaders,
      });
}

function pages(hosts: readonly HostView[], terminal: LiveTerminal, how: ProblemLayout = {}): SafeText[] {
  const layout = { ...layoutFor(terminal), ...how };
  return hosts.flatMap((host, index) => [...(index > 0 ? [empty] : []), ...hostPage(host, layout)]);
}

function aboveHosts({ clusterProblems }: ClusterView, { hasHeaders }: ShowOptions, terminal: LiveTerminal): SafeText[] {
  const layout = { ...layoutFor(terminal), wrapsCommands: true };
  return hasHeaders ? clusterProblemLines(clusterProblems, layout) : [];
}

/** Problems of the cluster first. */
function jsonNotes({ clusterProblems, notes }: ClusterView): SafeText[] {
  const problems = clusterProblems.map(({ code, message, remedy }) => `cluster: ${code}: ${message} -> ${remedy}`);
  return [...problems, ...notes].map(oneLine);
}

function noteLines({ notes }: ClusterView): SafeText[] {
  return notes.length === 0 ? [] : [empty, ...notes.map(note => safe`Note: ${oneLine(note)}`)];
}
