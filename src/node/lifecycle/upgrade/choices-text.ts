import { instanceAnnotation } from '#contract/names.ts';

/** An instance on which an upgrade failed. */
interface FailedHost {
  name: string;
  namespace: string;
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
export function retryText(host: Pick<FailedHost, 'name' | 'namespace'> & Partial<FailedHost>): string {
  const { retry, pinnedVersion } = instanceAnnotation;
  const command = `${annotateCommand(host)} ${retry}=$(date +%s)`;
  return host.isPinned === true
    ? `To try it again, without its pin, run \`${command} ${pinnedVersion}-\`.`
    : `To try it again, run \`${command}\`.`;
}

function annotateCommand({ name, namespace }: Pick<FailedHost, 'name' | 'namespace'>): string {
  return `kubectl annotate windowsinstance ${name} -n ${namespace} --overwrite`;
}
