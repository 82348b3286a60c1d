import { normalHostName } from '#base/dns-name.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { InstanceProgress } from '#contract/windows-instance/resource.ts';
import { joinText, oneLine, type SafeText, safe } from '../../safe-text.ts';
import { countText, durationText, shareText, uploadText } from '../view/amounts.ts';
import { configureMs, type HostView, isDuplicate, isUnsettled, stepMs } from '../view/host-view.ts';
import { timesText } from '../view/instance-problem.ts';
import { type Paint, plain } from './paint.ts';
import { type Column, printTable, type TableLayout } from './table.ts';

export interface Layout extends TableLayout {
  nowMs: number;
  /** Shows every column, however wide the table gets. */
  isWide?: boolean;
}

/** One line for each host, never wider than the terminal unless it is wide. */
export function hostTable(hosts: readonly HostView[], layout: Layout): SafeText[] {
  const rows = hosts.map(host => ({ ...cellsOf(host, layout), tone: host.tone }));
  if (layout.isWide !== true) return printTable(columnsFor(hosts), rows, layout);
  const { columns: _columns, ...unlimited } = layout;
  return printTable(wideColumns, rows, unlimited);
}

const hostColumns: readonly Column[] = [
  { name: 'host', title: 'HOST', isName: true },
  { name: 'address', title: 'ADDRESS', hideOrder: 4, isName: true },
  { name: 'node', title: 'NODE', hideOrder: 3, isName: true },
  { name: 'phase', title: 'PHASE' },
  { name: 'step', title: 'STEP', hideOrder: 1 },
  { name: 'time', title: 'TIME', hideOrder: 2 },
  { name: 'detail', title: 'DETAIL' },
];

const wideColumns: readonly Column[] = [
  { name: 'host', title: 'HOST' },
  { name: 'source', title: 'SOURCE' },
  { name: 'wideAddress', title: 'ADDRESS' },
  { name: 'user', title: 'USER' },
  { name: 'node', title: 'NODE' },
  { name: 'version', title: 'VERSION' },
  { name: 'phase', title: 'PHASE' },
  { name: 'step', title: 'STEP' },
  { name: 'time', title: 'TIME' },
  { name: 'detail', title: 'DETAIL' },
];

/** Hides the address when it is the name of every host. */
function columnsFor(hosts: readonly HostView[]): readonly Column[] {
  return hosts.some(host => host.address !== '' && !isNamedByAddress(host))
    ? hostColumns
    : hostColumns.filter(({ name }) => name !== 'address');
}

function isNamedByAddress({ name, address }: HostView): boolean {
  return normalHostName(name) === normalHostName(address);
}

function cellsOf(host: HostView, layout: Layout): Record<string, string> {
  const ms = configureMs(host, layout.nowMs);
  const { spec, status } = host.instance ?? {};
  return {
    host: host.name,
    address: isNamedByAddress(host) ? '' : host.address,
    wideAddress: status?.ipv4 ?? host.address,
    source: host.source.kind,
    user: spec?.username ?? '',
    node: host.nodeName ?? '',
    version: status?.version ?? '',
    phase: host.phase,
    step: host.step ?? '',
    time: ms === undefined ? '' : durationText(ms),
    detail: detailOf(host, layout),
  };
}

/** The most important detail now. Without a layout it has only what does not change by itself. */
export function detailOf(host: HostView, layout?: Layout): string {
  const { problem, tone, attempts, progress, activity, note } = host;
  if (problem !== undefined && tone === 'bad') {
    return attempts > 1 ? `${problem.code}, ${countText(attempts, 'attempt')}` : problem.code;
  }
  const upload = progress === undefined ? undefined : uploadDetail(progress, activity?.waitsFor, layout);
  if (upload !== undefined) return upload;
  if (problem !== undefined && tone === 'busy') return `may need more time (${problem.code})`;
  const cause = causeOf(host);
  if (activity === undefined || (layout === undefined && activity.waitsFor === undefined)) return note ?? cause ?? '';
  return [waitText(host, layout), ...(cause === undefined ? [] : [cause])].join('; ');
}

const causedJourneys: ReadonlySet<string> = new Set(['upgrade', 'rollback', 'reboot']);

/** Why a working node is disturbed; the phase says it for other journeys. */
export function causeOf({ instance, phase }: HostView): string | undefined {
  const { journey } = instance?.status ?? {};
  return journey !== undefined && phase !== 'Ready' && causedJourneys.has(journey.name) ? journey.cause : undefined;
}

/** Undefined when all bytes are sent and the step waits for something else. */
function uploadDetail(progress: InstanceProgress, waitsFor: string | undefined, layout?: Layout): string | undefined {
  const { bytes, totalBytes } = progress;
  if (bytes >= totalBytes && waitsFor !== undefined) return undefined;
  return layout?.columns === undefined ? shareText(bytes, totalBytes) : uploadText(progress, layout.nowMs);
}

/** `the kubelet registers its Node (12 s, usually 30 s, limit 10 min)`. */
export function waitText(host: HostView, layout?: Pick<Layout, 'nowMs'>): string {
  const { activity } = host;
  if (activity === undefined) return '';
  const ms = layout && stepMs(host, layout.nowMs);
  const times = `${ms === undefined ? '' : `${durationText(ms)}, `}${timesText(activity)}`;
  return activity.waitsFor === undefined ? times : `${activity.waitsFor} (${times})`;
}

/** `8 hosts: 5 Ready, 2 in progress, 1 with a problem; 1 duplicate`. */
export function countsLine(all: readonly HostView[], paint: Paint = plain): SafeText {
  const hosts = all.filter(host => !isDuplicate(host));
  const groups: [HostView['tone'], string, (host: HostView) => boolean][] = [
    ['good', 'Ready', ({ tone }) => tone === 'good'],
    ['busy', 'in progress', ({ tone }) => tone === 'busy'],
    ['slow', 'slow', ({ tone }) => tone === 'slow'],
    ['bad', 'in service without new settings', isUnsettled],
    ['bad', 'with a problem', host => host.tone === 'bad' && !isUnsettled(host)],
    ['idle', 'paused', ({ tone, phase }) => tone === 'idle' && phase === 'Paused'],
    ['idle', 'unmanaged', ({ tone, phase }) => tone === 'idle' && phase !== 'Paused'],
  ];
  const parts = groups.flatMap(([tone, word, isMember]) => {
    const count = hosts.filter(isMember).length;
    return count === 0 ? [] : [paint(oneLine(`${count} ${word}`), tone)];
  });
  const count = oneLine(countText(hosts.length, 'host'));
  const line = parts.length === 0 ? count : safe`${count}: ${joinText(parts, ', ')}`;
  const duplicates = all.length - hosts.length;
  return duplicates === 0 ? line : safe`${line}; ${paint(oneLine(countText(duplicates, 'duplicate')), 'bad')}`;
}

/** Version of a Node, and the desired one if it differs. */
export function versionText({ annotations }: { annotations: Readonly<Record<string, string>> }): string {
  const [version, desired] = [annotations[nodeAnnotation.version], annotations[nodeAnnotation.desiredVersion]];
  if (version === undefined) return desired === undefined ? 'none yet' : `none yet, desired ${desired}`;
  return desired === undefined || desired === version ? version : `${version}, desired ${desired}`;
}
