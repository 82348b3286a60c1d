import { instanceAnnotation } from '#contract/names.ts';

interface InstanceName {
  name: string;
  namespace: string;
}

/** An instance on which an upgrade failed. */
interface FailedHost extends InstanceName {
  from: string;
  to: string;
  /** It is kept at its version, also if it is retried. */
  isPinned: boolean;
}

/** What an administrator can do after an upgrade failed on a host. */
export function choicesText(host: FailedHost): string {
  const { name, from, to, isPinned } = host;
  const { acceptedRollback, pinnedVersion } = instanceAnnotation;
  const annotate = annotateCommand(host);
  const choices = [
    retryText(host),
    `To upgrade the other hosts nevertheless, run \`${annotate} ${acceptedRollback}=${to}\`.`,
    ...(isPinned ? [] : [`To keep ${name} at its version also later, run \`${annotate} ${pinnedVersion}=${from}\`.`]),
  ];
  return choices.join(' ');
}

/** A pinned host is tried only without its pin. */
export function retryText(host: InstanceName & Partial<FailedHost>): string {
  const command = retryCommand(host);
  return host.isPinned === true
    ? `To try it again, without its pin, run \`${command} ${instanceAnnotation.pinnedVersion}-\`.`
    : `To try it again, run \`${command}\`.`;
}

export function retryCommand(host: InstanceName): string {
  return `${annotateCommand(host)} ${instanceAnnotation.retry}=$(date +%s)`;
}

function annotateCommand({ name, namespace }: InstanceName): string {
  return `kubectl annotate windowsinstance ${name} -n ${namespace} --overwrite`;
}
