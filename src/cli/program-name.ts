/** How users call this program: as itself, or as a plugin of kubectl or oc. */
export type ProgramName = 'wmco' | 'kubectl wmco' | 'oc wmco';

const plugins = new Map<string, ProgramName>([
  ['kubectl-wmco', 'kubectl wmco'],
  ['oc-wmco', 'oc wmco'],
]);

/** Programs that kubectl and oc run to complete the commands of their plugin. */
export const completionPlugins: readonly string[] = ['kubectl_complete-wmco', 'oc_complete-wmco'];

/** By the name of the file that was called, which may be a link. */
export function programNameOf(calledAs: string): ProgramName {
  return plugins.get(calledAs) ?? 'wmco';
}

/** Commands in help and hints, so that they run when pasted. Drawn screens have a layout and stay as they are. */
export function named(program: ProgramName, text: string): string {
  if (program === 'wmco' || text.includes('\u001b')) return text;
  return text.replaceAll(/(?<=^|[\s`(])(?<!(?:kubectl|oc) )wmco(?= [a-z<-])/gm, program);
}
