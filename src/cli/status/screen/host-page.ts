import { configMapName, instanceAnnotation, ports } from '#contract/names.ts';
import type { TimelineStep } from '#contract/windows-instance/resource.ts';
import { oneLine, type SafeText, safe } from '../../safe-text.ts';
import { countText, durationText, uploadText } from '../view/amounts.ts';
import { causeOf, type Layout, versionText, waitText } from './host-table.ts';
import { pinText, rebootText, rollbackText, upgradeLine } from './upgrade-facts.ts';
import { keyText, mirrorsText, settingText } from './setting-facts.ts';
import { type HostView, configureMs } from '../view/host-view.ts';
import { timesText } from '../view/instance-problem.ts';
import { type JourneyStep, journeySteps } from '../view/journey-steps.ts';
import { plain } from './paint.ts';
import { problemText } from './problems.ts';
import { type Column, printTable, type Row } from './table.ts';
import { padTo } from './text-width.ts';

/** Everything about one host: source, problem, steps and conditions. */
export function hostPage(host: HostView, layout: Layout): SafeText[] {
  const { paint = plain } = layout;
  const sections = [
    factLines(host, layout),
    problemSection(host, layout),
    stepLines(host, layout),
    conditionLines(host, layout),
  ];
  const body = sections.filter(lines => lines.length > 0).flatMap(lines => [safe``, ...lines]);
  const title = safe`${paint(oneLine(host.name), 'title')}  ${paint(oneLine(host.phase), host.tone)}`;
  return [title, ...body.slice(1)];
}

function factLines(host: HostView, { nowMs }: Layout): SafeText[] {
  const { node, nodeName, hostKey, step, activity } = host;
  const ms = configureMs(host, nowMs);
  const facts: [string, string | undefined][] = [
    ['Managed by', sourceText(host)],
    ['Reached at', reachText(host)],
    ['SSH key', keyText(host)],
    ['Host key', hostKey && `${hostKey.type} ${hostKey.fingerprint}, in ${hostKey.where}`],
    ['Node', node === undefined ? nodeName : nodeText(host)],
    ['Version', node && versionText(node)],
    ['Step', step === undefined || activity === undefined ? step : `${step}: ${waitText(host, { nowMs })}`],
    ['Cause', causeOf(host)],
    ['Upgrade', upgradeLine(host)],
    ['Rolled back', rollbackText(host)],
    ['Pinned', pinText(host)],
    ['Files', settingText(host, 'files')],
    ['Services', settingText(host, 'services')],
    ['Mirrors', mirrorsText(host)],
    ['Reboots', rebootText(host, nowMs)],
    ['Removal', removalText(host)],
    ['Note', node === undefined || host.phase !== 'Ready' ? host.note : undefined],
    ['Time', ms === undefined ? undefined : `${durationText(ms)}${host.endedMs === undefined ? ' so far' : ''}`],
  ];
  return facts.flatMap(([name, text]) =>
    text === undefined || text === '' ? [] : [safe`  ${padTo(oneLine(name), 12)}${oneLine(text)}`],
  );
}

function removalText({ removal }: HostView): string | undefined {
  if (removal === undefined) return undefined;
  const { requested, cause, isForced } = removal;
  const parts = [requested === '' ? '' : `requested ${requested}`, cause ?? '', isForced ? 'by force' : ''];
  return parts.filter(part => part !== '').join(', ');
}

function sourceText({ source, instance }: HostView): string {
  if (source.kind === 'Machine') return `Machine ${source.name}`;
  if (source.kind === 'Node') return 'no WindowsInstance';
  if (source.kind === 'ConfigMap') return `entry ${source.name} of ConfigMap ${configMapName.instances}`;
  return `WindowsInstance ${instance?.metadata.name ?? source.name}, created by an administrator`;
}

function reachText({ address, instance }: HostView): string {
  const { ipv4 } = instance?.status ?? {};
  const { port = ports.ssh, username } = instance?.spec ?? {};
  if (address === '') return '';
  const resolved = ipv4 === undefined || ipv4 === address ? '' : ` (${ipv4})`;
  return `${address}${resolved}, port ${port}${username === undefined ? '' : `, as ${username}`}`;
}

function nodeText({ node, note, phase }: HostView): string {
  if (node === undefined) return '';
  const schedulable = node.unschedulable ? 'cordoned' : 'schedulable';
  const more = phase === 'Ready' ? note : undefined;
  const details = more?.startsWith(schedulable) ? [more] : [schedulable, ...(more === undefined ? [] : [more])];
  return `${node.name}: ${[node.ready ? 'Ready' : 'not Ready', ...details].join(', ')}`;
}

const stepColumns: readonly Column[] = [
  { name: 'step', title: 'STEP' },
  { name: 'phase', title: 'STATE' },
  { name: 'time', title: 'TIME' },
  { name: 'detail', title: '' },
];

/** Their steps to come are many, and no node waits for them. */
const joinJourneys: ReadonlySet<string> = new Set(['configure', 'adopt']);

function stepLines(host: HostView, layout: Layout): SafeText[] {
  if (host.timeline.length === 0) return [];
  const timeline = new Map(host.timeline.map(step => [step.name, step]));
  const isJoin = joinJourneys.has(host.instance?.status?.journey?.name ?? 'configure');
  const steps = journeySteps(host);
  const last = host.endedMs === undefined ? steps.findLastIndex(({ name }) => timeline.has(name)) : steps.length - 1;
  const reached = steps.slice(0, last + 1).flatMap(({ name }): Row[] => {
    const step = timeline.get(name);
    if (step !== undefined) return [stepRow(step, host, layout.nowMs)];
    return isJoin ? [{ step: name, phase: 'not needed', tone: 'faint' }] : [];
  });
  const coming = steps.slice(last + 1);
  return [
    ...indented(stepColumns, isJoin ? reached : [...reached, ...coming.map(comingRow)], layout),
    ...(isJoin && coming.length > 0 ? [safe`  … ${oneLine(countText(coming.length, 'step'))} to come`] : []),
  ];
}

function comingRow({ name, times }: JourneyStep): Row {
  return { step: name, phase: 'to come', detail: times === undefined ? '' : timesText(times), tone: 'faint' };
}

function stepRow(step: TimelineStep, host: HostView, nowMs: number): Row {
  const { name, finished, attempts, lastError } = step;
  const attemptText = attempts > 1 ? [countText(attempts, 'attempt')] : [];
  if (finished !== undefined)
    return {
      step: name,
      phase: 'done',
      time: timeOf(step, Date.parse(finished)),
      detail: attemptText.join(),
      tone: 'good',
    };
  if (host.step === name && host.activity !== undefined) {
    const { progress } = host;
    const share = progress === undefined ? [] : [uploadText(progress, nowMs)];
    const detail = [...share, ...attemptText].join(', ');
    return { step: name, phase: 'running', time: timeOf(step, nowMs), detail, tone: 'busy' };
  }
  if (lastError === undefined) return { step: name, phase: 'started', detail: attemptText.join(), tone: 'busy' };
  const tone = host.tone === 'bad' ? 'bad' : 'busy';
  return { step: name, phase: 'failed', detail: [lastError.code, ...attemptText].join(', '), tone };
}

function timeOf({ started }: TimelineStep, endMs: number): string {
  const ms = endMs - Date.parse(started);
  return Number.isNaN(ms) ? '' : durationText(ms);
}

const problemTitles: Readonly<Partial<Record<HostView['tone'], string>>> = {
  bad: 'Problem',
  slow: 'Slow',
  good: 'Advice',
};

function problemSection(host: HostView, layout: Layout): SafeText[] {
  const { problem, nextAttemptMs } = host;
  if (problem === undefined) return [];
  const title = problemTitles[host.tone] ?? 'Waiting';
  return [
    ...problemText(title, problem, layout),
    ...(nextAttemptMs === undefined ? [] : [safe`  ${oneLine(retryText(nextAttemptMs, layout))}`, ...retryLines(host)]),
  ];
}

/** In two lines, which fit most terminals and can be pasted. */
function retryLines({ instance }: HostView): SafeText[] {
  const { name = '', namespace = '' } = instance?.metadata ?? {};
  return [
    safe`  To retry now:`,
    safe`    kubectl annotate wi ${oneLine(name)} -n ${oneLine(namespace)} \\`,
    safe`      --overwrite ${oneLine(instanceAnnotation.retry)}="$(date)"`,
  ];
}

function retryText(nextAttemptMs: number, { nowMs }: Layout): string {
  const time = new Date(nextAttemptMs).toISOString().slice(11, 19);
  const leftMs = nextAttemptMs - nowMs;
  return `Retried automatically by ${time} UTC${leftMs > 0 ? `, within ${durationText(leftMs)}` : ''}.`;
}

const conditionColumns: readonly Column[] = [
  { name: 'type', title: 'CONDITION' },
  { name: 'phase', title: 'STATUS' },
  { name: 'reason', title: 'REASON' },
  { name: 'since', title: 'FOR', hideOrder: 1 },
  { name: 'detail', title: '' },
];

function conditionLines({ conditions, problem }: HostView, layout: Layout): SafeText[] {
  if (conditions.length === 0) return [];
  const rows = conditions.map(({ type, status, reason = '', message = '', lastTransitionTime = '' }) => {
    const sinceMs = layout.nowMs - Date.parse(lastTransitionTime);
    return {
      type,
      phase: status,
      reason,
      since: Number.isNaN(sinceMs) ? '' : durationText(sinceMs),
      // Already printed above.
      detail: reason === problem?.code ? '' : message,
    };
  });
  return indented(conditionColumns, rows, layout);
}

function indented(columns: readonly Column[], rows: readonly Row[], layout: Layout): SafeText[] {
  const narrower = layout.columns === undefined ? layout : { ...layout, columns: Math.max(1, layout.columns - 2) };
  return printTable(columns, rows, narrower).map(line => safe`  ${line}`);
}
