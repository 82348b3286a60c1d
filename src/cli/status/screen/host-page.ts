import { configMapName, ports } from '#contract/names.ts';
import type { TimelineStep } from '#contract/windows-instance/resource.ts';
import { configureSteps } from '#node/lifecycle/configure/steps.ts';
import { oneLine, type SafeText, safe } from '../../safe-text.ts';
import { countText, durationText, shareText } from '../view/amounts.ts';
import { type Column, type Look, printTable, problemText, type Row, versionText } from './host-table.ts';
import { type HostView, travelMs } from '../view/host-view.ts';
import { plain } from './paint.ts';
import { padTo } from './text-width.ts';

/** Everything about one host: who looks after it, where it is on its way, what is wrong and what to do. */
export function hostPage(host: HostView, look: Look): SafeText[] {
  const { paint = plain } = look;
  const sections = [factLines(host, look), troubleLines(host, look), stepLines(host, look), conditionLines(host, look)];
  const body = sections.filter(lines => lines.length > 0).flatMap(lines => [safe``, ...lines]);
  const title = safe`${paint(oneLine(host.name), 'title')}  ${paint(oneLine(host.phase), host.tone)}`;
  return [title, ...body.slice(1)];
}

function factLines(host: HostView, { nowMs }: Look): SafeText[] {
  const { node, nodeName, hostKey, note, step } = host;
  const ms = travelMs(host, nowMs);
  const facts: [string, string | undefined][] = [
    ['Managed by', sourceText(host)],
    ['Reached at', reachText(host)],
    ['Host key', hostKey && `${hostKey.type} ${hostKey.fingerprint}, in ${hostKey.where}`],
    ['Node', node === undefined ? nodeName : nodeText(host)],
    ['Version', node && versionText(node)],
    ['Step', step === undefined ? undefined : `${step}${note === undefined ? '' : `: ${note}`}`],
    ['Time', ms === undefined ? undefined : `${durationText(ms)}${host.endedMs === undefined ? ' so far' : ''}`],
  ];
  return facts.flatMap(([name, text]) =>
    text === undefined || text === '' ? [] : [safe`  ${padTo(oneLine(name), 12)}${oneLine(text)}`],
  );
}

function sourceText({ source, instance }: HostView): string {
  if (source.kind === 'Machine') return `Machine ${source.name}`;
  if (source.kind === 'ConfigMap') return `the entry ${source.name} of ConfigMap ${configMapName.instances}`;
  return `WindowsInstance ${instance?.metadata.name ?? source.name}, made by an administrator`;
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
  const schedulable = node.unschedulable ? 'cordoned' : 'takes pods';
  const more = phase === 'Ready' && note !== undefined ? `; ${note}` : '';
  return `${node.name}: ${node.ready ? 'Ready' : 'not Ready'}, ${schedulable}${more}`;
}

const stepColumns: readonly Column[] = [
  { name: 'step', title: 'STEP' },
  { name: 'phase', title: 'STATE' },
  { name: 'time', title: 'TIME' },
  { name: 'detail', title: '' },
];

function stepLines(host: HostView, look: Look): SafeText[] {
  if (host.timeline.length === 0) return [];
  const taken = new Map(host.timeline.map(step => [step.name, step]));
  const known = configureSteps.map(({ name }) => name);
  // Journeys of other versions may have other steps.
  const names = [...known, ...[...taken.keys()].filter(name => !known.includes(name))];
  const last = names.findLastIndex(name => taken.has(name));
  const behind = host.endedMs === undefined ? names.slice(0, last + 1) : names;
  const rows = behind.map((name): Row => {
    const step = taken.get(name);
    return step === undefined ? { step: name, phase: 'nothing to do', tone: 'faint' } : stepRow(step, host, look.nowMs);
  });
  const left = names.length - behind.length;
  return [
    ...indented(stepColumns, rows, look),
    ...(left > 0 ? [safe`  … ${oneLine(countText(left, 'step'))} to come`] : []),
  ];
}

function stepRow(step: TimelineStep, host: HostView, nowMs: number): Row {
  const { name, finished, attempts, lastError } = step;
  const tries = attempts > 1 ? [countText(attempts, 'attempt')] : [];
  if (finished !== undefined)
    return { step: name, phase: 'done', time: timeOf(step, Date.parse(finished)), detail: tries.join(), tone: 'good' };
  if (host.step === name && host.phase !== 'Failed' && host.phase !== 'Waiting') {
    const { progress } = host;
    const share = progress === undefined ? [] : [shareText(progress.bytes, progress.totalBytes)];
    const detail = [...share, ...tries].join(', ');
    return { step: name, phase: 'under way', time: timeOf(step, nowMs), detail, tone: 'busy' };
  }
  if (lastError === undefined) return { step: name, phase: 'begun', detail: tries.join(), tone: 'busy' };
  const tone = host.tone === 'bad' ? 'bad' : 'busy';
  return { step: name, phase: 'failed', detail: [lastError.code, ...tries].join(', '), tone };
}

function timeOf({ started }: TimelineStep, endMs: number): string {
  const ms = endMs - Date.parse(started);
  return Number.isNaN(ms) ? '' : durationText(ms);
}

/** What is wrong, what to do, and when it is tried again. */
function troubleLines(host: HostView, look: Look): SafeText[] {
  const { problem, nextAttemptMs } = host;
  if (problem === undefined) return [];
  const title = host.tone === 'bad' ? 'What is wrong' : 'What it waits for';
  return [
    ...problemText(title, problem, look),
    ...(nextAttemptMs === undefined ? [] : [safe`  ${oneLine(nextText(nextAttemptMs, look))}`]),
  ];
}

function nextText(nextAttemptMs: number, { nowMs }: Look): string {
  const time = new Date(nextAttemptMs).toISOString().slice(11, 19);
  const leftMs = nextAttemptMs - nowMs;
  return `It is tried again by itself by ${time} UTC${leftMs > 0 ? `, within ${durationText(leftMs)}` : ''}.`;
}

const conditionColumns: readonly Column[] = [
  { name: 'type', title: 'CONDITION' },
  { name: 'phase', title: 'STATUS' },
  { name: 'reason', title: 'REASON' },
  { name: 'since', title: 'FOR', dispensable: 1 },
  { name: 'detail', title: '' },
];

function conditionLines({ conditions, problem }: HostView, look: Look): SafeText[] {
  if (conditions.length === 0) return [];
  const rows = conditions.map(({ type, status, reason, message, lastTransitionTime }) => {
    const sinceMs = look.nowMs - Date.parse(lastTransitionTime);
    return {
      type,
      phase: status,
      reason,
      since: Number.isNaN(sinceMs) ? '' : durationText(sinceMs),
      // What stands above need not be read again.
      detail: reason === problem?.code ? '' : message,
    };
  });
  return indented(conditionColumns, rows, look);
}

function indented(columns: readonly Column[], rows: readonly Row[], look: Look): SafeText[] {
  const narrower = look.columns === undefined ? look : { ...look, columns: Math.max(1, look.columns - 2) };
  return printTable(columns, rows, narrower).map(line => safe`  ${line}`);
}
