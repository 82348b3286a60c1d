import { oneLine, type SafeText, safe } from '../../safe-text.ts';
import type { HostProblem, HostView } from '../view/host-view.ts';
import { type Paint, plain } from './paint.ts';
import { wrapTo } from './text-width.ts';

export interface ProblemLayout {
  /** Width of the terminal. */
  columns?: number;
  paint?: Paint;
  /** Wraps commands like other text, for a screen that is redrawn: it cuts longer lines. */
  wrapsCommands?: boolean;
}

/** The problems of all hosts with their remedies, each as its lines. */
export function problemBlocks(hosts: readonly HostView[], layout: ProblemLayout): SafeText[][] {
  return hosts.flatMap(({ name, problem, tone }) =>
    // While a host may only need time, its problem is not worth a remedy.
    problem === undefined || tone === 'busy' ? [] : [problemText(name, problem, layout)],
  );
}

/** The problems of the cluster, which concern all hosts, with an empty line below. */
export function clusterProblemLines(problems: readonly HostProblem[], layout: ProblemLayout): SafeText[] {
  if (problems.length === 0) return [];
  return [...problems.flatMap(problem => problemText('cluster', problem, layout)), safe``];
}

export function problemText(name: string, problem: HostProblem, layout: ProblemLayout): SafeText[] {
  const { columns = 120, paint = plain, wrapsCommands = false } = layout;
  const { code, message, remedy } = problem;
  const wrapped = (text: string) =>
    wrapTo(oneLine(text), Math.max(20, Math.min(columns, 120) - 5), wrapsCommands ? 'wrapped' : 'whole');
  return [
    safe`${oneLine(name)}: ${paint(oneLine(code), 'bad')}`,
    ...wrapped(message).map(line => safe`  ${line}`),
    ...wrapped(remedy).map((line, index) => (index === 0 ? safe`  -> ${line}` : safe`     ${line}`)),
  ];
}
