import { AppError } from '#base/errors.ts';
import type { KubeletArguments } from './facts.ts';

const option = /^--(cloud-provider|cloud-config)=(.*)$/;

/** The cloud flags of the kubelet in a systemd unit; `subject` names the unit in messages. */
export function kubeletArguments(unit: string, subject = 'kubelet.service'): KubeletArguments {
  const found: KubeletArguments = {};
  for (const word of commandLine(unit, subject)
    .slice(1)
    .flatMap(piece => piece.trim().split(/\s+/))) {
    const [, name, value] = option.exec(word) ?? [];
    if (name !== undefined) found[name as keyof KubeletArguments] = value ?? '';
  }
  return found;
}

/** The lines of the command: a backslash at the end of a line continues it. */
function commandLine(unit: string, subject: string): string[] {
  const text = unit.replaceAll('\r\n', '\n');
  // An empty ExecStart= only resets earlier ones.
  const start = /^[ \t]*ExecStart=(?=[ \t]*\S)/m.exec(text);
  if (start === null) {
    throw new AppError('KUBELET_UNIT_MALFORMED', `${subject}: unit missing ExecStart`, {
      remedy:
        'Wait until the machine config operator renders a worker config with a complete kubelet unit; check with `oc get machineconfigpool worker`.',
    });
  }
  const [line = ''] = text.slice(start.index + start[0].length).split(/(?<!\\)\n/, 1);
  return line.split('\\\n');
}
