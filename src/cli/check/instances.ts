import { lookup } from 'node:dns/promises';
import type { AppError } from '#base/errors.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { type Ipv4Answers, parseEntries, resolveInstances } from '#contract/instances.ts';
import { configMapName } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { KubeObject } from '#contract/object.ts';
import { windowsInstanceKind } from '#contract/windows-instance/resource.ts';
import type { Command } from '../command.ts';
import { find, missingObject, readNodes, textData } from '../find.ts';
import { errorData, table } from '../output.ts';
import { oneLine } from '../safe-text.ts';
import { checkWindowsInstances } from './windows-instances.ts';

interface Line {
  /** Name of a WindowsInstance; not set for an entry. */
  instance?: string;
  address: string;
  username?: string;
  ipv4?: string;
  node?: string;
  error?: AppError;
}

export const checkInstances: Command = {
  name: 'instances',
  summary: 'check each entry of windows-instances and each WindowsInstance',
  example: 'wmco check instances -f examples/windows-instances.yaml',
  reads: `ConfigMap ${configMapName.instances} or ${windowsInstanceKind}s, and Nodes to match entries with`,
  options: ['resolve'],
  async run({ objects }, options) {
    const wanted = { kind: 'ConfigMap', name: configMapName.instances };
    const configMap = find(objects, wanted);
    const instances = checkWindowsInstances(objects);
    if (configMap === undefined && instances.length === 0) throw missingObject(wanted);
    const { nodes, problems } = readNodes(objects);
    const entries = configMap === undefined ? [] : await entryLines(configMap, nodes, options['resolve'] === true);
    const lines = [...entries, ...instances];
    const texts = [
      ...(configMap === undefined ? [] : [text(configMap.label, 'entries', entries)]),
      ...(instances.length === 0 ? [] : [text(`${windowsInstanceKind}s`, 'objects', instances)]),
    ];
    const output = { text: texts.join('\n'), data: lines.map(lineData) };
    return { output, findings: [...problems, ...lines.flatMap(line => line.error ?? [])] };
  },
};

async function entryLines(configMap: KubeObject, nodes: readonly NodeView[], usesDns: boolean): Promise<Line[]> {
  const { data, failures } = textData(configMap);
  const listed = { data, nodes, label: configMap.label };
  return [
    ...(usesDns ? await resolveEntries(listed) : literalEntries(listed)),
    ...failures.map(({ key, error }) => ({ address: key, error })),
  ];
}

interface Listed {
  data: Record<string, string>;
  nodes: readonly NodeView[];
  /** The name of the ConfigMap in messages. */
  label: string;
}

/** Without DNS only literal addresses can be matched with Nodes. */
function literalEntries({ data, nodes, label }: Listed): Line[] {
  const literal = resolveInstances(data, {}, nodes).instances;
  return parseEntries(data, label).map(entry => {
    if (!entry.ok) return { address: entry.address, error: entry.error };
    const node = literal.find(instance => instance.address === entry.address)?.node?.name;
    return { address: entry.address, username: entry.username, ...(node !== undefined && { node }) };
  });
}

async function resolveEntries({ data, nodes, label }: Listed): Promise<Line[]> {
  const { instances, failures } = resolveInstances(data, await lookUpNames(Object.keys(data)), nodes, label);
  const good = instances.map(({ address, username, ipv4, node }) => ({
    address,
    username,
    ipv4,
    ...(node !== undefined && { node: node.name }),
  }));
  return [...good, ...failures];
}

/** In parallel: a slow name server delays the command only once. */
async function lookUpNames(addresses: readonly string[]): Promise<Ipv4Answers> {
  const names = addresses.filter(address => !isIpv4(address));
  const answers = await Promise.allSettled(names.map(name => lookup(name, { family: 4 })));
  return Object.fromEntries(
    answers.map((answer, index) => [names[index] ?? '', answer.status === 'fulfilled' ? answer.value.address : null]),
  );
}

function text(label: string, what: string, lines: readonly Line[]): string {
  const bad = lines.filter(line => line.error !== undefined).length;
  const rows = lines.map(line => [
    line.error === undefined ? '  ok ' : '  BAD',
    line.instance ?? line.address,
    line.error === undefined ? `user ${line.username ?? ''}` : line.error.code,
    [line.ipv4 && `resolves to ${line.ipv4}`, line.node && `Node ${line.node}`].filter(Boolean).join(', '),
  ]);
  return `${oneLine(label)}: ${lines.length} ${what}, ${lines.length - bad} good, ${bad} bad\n${table(rows)}`;
}

function lineData({ error, ...line }: Line): object {
  return error === undefined ? { ...line, ok: true } : { ...line, ok: false, error: errorData(error) };
}
