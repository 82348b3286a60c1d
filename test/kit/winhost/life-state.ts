import { dir, file, orderedRebootFile } from '../../../src/contract/paths.ts';
import type { WindowsHost } from './host.ts';
import { bundlePath } from '../manual-operator.ts';
import { seeFiles, type Snapshot, takeSnapshot } from './snapshot.ts';

const records = { state: `${dir.k}\\wicd-state.json`, manifest: `${dir.k}\\wicd-manifest.json` };

/** Everything on a host, and the marks on its Node, that has to be the same however often the agent was interrupted. */
export async function seeLastingState(
  host: WindowsHost,
  more: { marks: Readonly<Record<string, string>>; expected: readonly string[] },
): Promise<Snapshot> {
  const state = new Map<string, string>();
  for (const [name, content] of await takeSnapshot(host)) {
    const kept = lastingPart(host, name, content);
    if (kept !== undefined) state.set(name, kept);
  }
  for (const [name, value] of Object.entries(more.marks)) state.set(`mark ${name}`, value);
  const programs = (await seePrograms(host)).filter(name => !more.expected.includes(name));
  for (const name of programs) state.set(`process ${name}`, `${state.get(`process ${name}`) ?? ''}|`);
  return state;
}

/** Names of all programs that run, without those of SSH sessions. */
export async function seePrograms(host: WindowsHost): Promise<string[]> {
  const session = ['start.exe', 'wpump.exe', 'cmd.exe', 'conhost.exe', 'tasklist.exe'];
  const lines = (await host.run('tasklist')).split('\n').slice(2);
  return lines.map(line => line.slice(0, 25).trim()).filter(name => !session.includes(name));
}

/** Files that exist and are incomplete. A file that is being written has another name until it is complete. */
export function findBroken(host: WindowsHost, whole: Snapshot): string[] {
  const known = [...seeFiles(host)].filter(([name]) => whole.has(name) && name !== bundlePath);
  return [
    ...known.filter(([name, content]) => content !== whole.get(name)).map(([name]) => name),
    ...Object.values(records).filter(name => !isJson(host.drive.read(name) ?? '{}')),
  ];
}

/** Without what is another one in every life; undefined for what does not count at all. */
function lastingPart(host: WindowsHost, name: string, content: string): string | undefined {
  if (/^C:\\var\\|\\wicd-client-\d/.test(name)) return undefined;
  const text = () => JSON.parse(host.drive.read(name) ?? '') as Record<string, unknown>;
  switch (name) {
    case file.kubeconfig:
    case file.agentCertificate:
    case file.agentKey:
      return '';
    // After which reboot it exists depends on the step that was disturbed.
    case orderedRebootFile.toLowerCase():
      return undefined;
    case records.state:
      return JSON.stringify({ ...text(), variablesBoot: undefined, lastBoot: undefined, takenBack: undefined });
    case records.manifest:
      return JSON.stringify({ ...text(), node: undefined });
    default:
      return content;
  }
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
