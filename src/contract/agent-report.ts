import { isRecord, jsonIn } from '#base/fields.ts';
import { sha256 } from '#base/sha256.ts';
import type { EventText } from './events.ts';
import { parseDesiredServices, printDesiredServices } from './services/hash.ts';

/**
 * What the agent reports about its host: one ConfigMap in the operator's namespace, created by the operator and updated
 * by the agent. It is evidence about this host only.
 */
/** Reasons of events of the agent about services and configuration; the operator acts on some of them. */
export const agentEvent = {
  /** Services wait for the pod network, which is part of every join. */
  serviceWaiting: 'ServiceWaiting',
  serviceFailure: 'ServiceFailure',
  configurationFailure: 'ConfigurationFailure',
  /** Services that should have been running were started. */
  serviceStarted: 'ServiceStarted',
  /** The host is configured again after a failure. */
  recovered: 'Recovered',
  /** A service did not stop, so its process was ended. */
  serviceEnded: 'ServiceProcessEnded',
  /** The host was rebooted, but not by the operator. */
  unplannedReboot: 'UnplannedReboot',
} as const;

export interface AgentReport {
  /** Operator version that the agent has applied; '' before the first. */
  version: string;
  /** Boot in which the report was written; all events are from it. */
  bootId: string;
  /** UID of the Node for which the report was written; all events are about it. '' until the agent has seen its Node. */
  nodeUid: string;
  /** Boot in which the agent last confirmed that all services run and the Node is ready; '' before. */
  confirmedBoot: string;
  /** New variables or certificates need a reboot. */
  rebootRequired: boolean;
  /** The annotation `desired-services` that the agent has applied; '' before the first. */
  services: string;
  /** Boot in which machine variables were changed: programs other than ours see them after a reboot. '' when none were. */
  variablesBoot: string;
  /** Newest last. */
  events: ReportEvent[];
}

/** Becomes an event on the Node. */
export interface ReportEvent extends EventText {
  /** RFC 3339, by the clock of the host. */
  time: string;
}

export const emptyReport: AgentReport = {
  version: '',
  bootId: '',
  nodeUid: '',
  confirmedBoot: '',
  rebootRequired: false,
  services: '',
  variablesBoot: '',
  events: [],
};

/** Larger reports are ignored. */
export const maxReportBytes = 16 * 1024;
const maxEvents = 10;
const maxMessageLength = 1000;

/** Two prefixes, so that no short name can equal the hash of a long one. */
const [prefix, longPrefix] = ['wicd-report-', 'wicd-long-report-'];
const maxNameLength = 253;

/** Name of the ConfigMap for the agent of this Node. */
export function reportName(node: string): string {
  const name = `${prefix}${node}`;
  return name.length <= maxNameLength ? name : `${longPrefix}${sha256(node).slice(0, 40)}`;
}

export function isReportName(name: string): boolean {
  return name.startsWith(prefix) || name.startsWith(longPrefix);
}

/** Data of the ConfigMap. */
export function printReport(report: AgentReport): Record<string, string> {
  const { version, bootId, nodeUid, confirmedBoot, rebootRequired, services, variablesBoot, events } = report;
  const kept = events.slice(-maxEvents).map(({ type, reason, message, time }) => ({
    type,
    reason,
    message: message.slice(0, maxMessageLength),
    time,
  }));
  return {
    version,
    bootID: bootId,
    nodeUID: nodeUid,
    confirmedBootID: confirmedBoot,
    rebootRequired: String(rebootRequired),
    ...(services !== '' && { services }),
    ...(variablesBoot !== '' && { variablesBootID: variablesBoot }),
    events: JSON.stringify(kept),
  };
}

/** Invalid parts count as missing. */
export function parseReport(data: Readonly<Record<string, string>> = {}): AgentReport {
  const { version = '', bootID = '', nodeUID = '', confirmedBootID = '', rebootRequired, events = '' } = data;
  const { services, variablesBootID = '' } = data;
  const applied = parseDesiredServices(services);
  return {
    version: plain.test(version) ? version : '',
    bootId: plain.test(bootID) ? bootID : '',
    nodeUid: plain.test(nodeUID) ? nodeUID : '',
    confirmedBoot: plain.test(confirmedBootID) ? confirmedBootID : '',
    rebootRequired: rebootRequired === 'true',
    services: applied === undefined ? '' : printDesiredServices(applied),
    variablesBoot: plain.test(variablesBootID) ? variablesBootID : '',
    events: parseEvents(events),
  };
}

/** Whether the report is about this boot of this Node; values that one side does not know match. */
export function isReportOf(
  { bootId, nodeUid }: Pick<AgentReport, 'bootId' | 'nodeUid'>,
  host: { bootId?: string; nodeUid?: string },
): boolean {
  const matches = (one: string, other = '') => one === '' || other === '' || one === other;
  return matches(bootId, host.bootId) && matches(nodeUid, host.nodeUid);
}

/** The failure that has not been followed by a success. */
export function failureIn(events: readonly ReportEvent[]): ReportEvent | undefined {
  const last = events.findLast(({ reason }) => isFailureReason(reason) || reason === agentEvent.recovered);
  return last === undefined || last.reason === agentEvent.recovered ? undefined : last;
}

function isFailureReason(reason: string): boolean {
  return reason === agentEvent.serviceFailure || reason === agentEvent.configurationFailure;
}

const plain = /^[\w.:+-]{1,128}$/;
const reasonPattern = /^[A-Za-z]{1,64}$/;
const timePattern = /^\d{4}-\d\d-\d\dT[\d:.]{8,15}Z$/;

function parseEvents(text: string): ReportEvent[] {
  const list = text.length > maxReportBytes ? undefined : jsonIn(text);
  return Array.isArray(list) ? list.slice(-maxEvents).flatMap(readEvent) : [];
}

function readEvent(item: unknown): ReportEvent[] {
  const { type, reason, message, time } = isRecord(item) ? item : {};
  if (type !== 'Normal' && type !== 'Warning') return [];
  if (typeof reason !== 'string' || !reasonPattern.test(reason)) return [];
  if (typeof message !== 'string' || typeof time !== 'string' || !timePattern.test(time)) return [];
  return [{ type, reason, message: message.slice(0, maxMessageLength), time }];
}
