import { commandHelp } from '#base/command-line.ts';
import { normalHostName } from '#base/dns-name.ts';
import { AppError, shown as quoted } from '#base/errors.ts';
import { jsonText, oneLine, printable, type SafeText, safe } from '../safe-text.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';
import { type ClusterReaderDeps, watchCluster, readCluster } from './cluster-reader.ts';
import { openClient } from './connection.ts';
import { displayOn, layoutFor, screenDisplay } from './screen/displays.ts';
import { follow } from './screen/follow.ts';
import { hostData } from './view/host-data.ts';
import { hostPage } from './screen/host-page.ts';
import { countsLine, hostTable, problemLines } from './screen/host-table.ts';
import { type ClusterView, type HostView, hostViews, isGood } from './view/host-view.ts';
import { readStatusOptions, statusLine, type StatusOptions } from './options.ts';

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
  return showView(await readCluster(deps, terminal.signal), options, terminal);
}

export function showView(
  view: ClusterView,
  options: Pick<StatusOptions, 'host' | 'form'>,
  terminal: LiveTerminal,
): ExitCode {
  const hosts = selectHosts(view, options.host);
  if (options.form === 'json') {
    const data = { hosts: hosts.map(hostData), notes: view.notes };
    terminal.out(jsonText(data), 'data');
  } else {
    const lines = options.host === undefined ? overview(hosts, terminal) : pages(hosts, terminal);
    for (const line of [...lines, ...noteLines(view)]) terminal.out(safe`${line}\n`);
  }
  return hosts.every(isGood) ? 0 : 1;
}

async function watch(deps: ClusterReaderDeps, options: StatusOptions, terminal: LiveTerminal): Promise<ExitCode> {
  const { signal, clock } = terminal;
  const stamp = (nowMs: number) => new Date(nowMs).toISOString().slice(11, 19);
  await using cluster = await watchCluster(deps, signal);
  let hosts = selectHosts(cluster.view(), options.host);
  const display =
    options.host === undefined || terminal.size() === undefined
      ? displayOn(terminal, stamp)
      : screenDisplay(terminal, visible => pages(visible, terminal));
  const refresh = () => {
    const view = cluster.view();
    hosts = matching(hostViews(view), options.host);
    display.show(hosts, noteLines(view));
    return 'continue' as const;
  };
  try {
    await follow(refresh, { onChange: cluster.onChange, clock, signal });
  } finally {
    display.close();
  }
  return hosts.every(isGood) ? 0 : 1;
}

function overview(hosts: readonly HostView[], terminal: LiveTerminal): SafeText[] {
  const layout = layoutFor(terminal);
  const problems = problemLines(hosts, layout);
  if (hosts.length === 0) return [countsLine(hosts)];
  return [
    ...hostTable(hosts, layout),
    countsLine(hosts, layout.paint),
    ...(problems.length > 0 ? [empty, ...problems] : []),
  ];
}

function pages(hosts: readonly HostView[], terminal: LiveTerminal): SafeText[] {
  const layout = layoutFor(terminal);
  return hosts.flatMap((host, index) => [...(index > 0 ? [empty] : []), ...hostPage(host, layout)]);
}

function selectHosts(view: ClusterView, wanted: string | undefined): HostView[] {
  const all = hostViews(view);
  const hosts = matching(all, wanted);
  if (wanted === undefined || hosts.length > 0) return hosts;
  const names = all.map(({ name }) => name).join(', ');
  throw new AppError('HOST_UNKNOWN', `this cluster has no Windows host ${quoted(wanted)}`, {
    remedy: names === '' ? 'Add it to the ConfigMap windows-instances.' : `Use one of: ${names.slice(0, 500)}.`,
  });
}

function matching(hosts: readonly HostView[], wanted: string | undefined): HostView[] {
  if (wanted === undefined) return [...hosts];
  const name = normalHostName(wanted);
  return hosts.filter(host => [host.name, ...host.aliases].some(known => normalHostName(known) === name));
}

function noteLines({ notes }: ClusterView): SafeText[] {
  return notes.length === 0 ? [] : [empty, ...notes.map(note => safe`Note: ${oneLine(note)}`)];
}
