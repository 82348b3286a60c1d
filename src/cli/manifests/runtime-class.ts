import { commandHelp } from '#base/command-line.ts';
import { runtimeClass } from '#install/runtime-class.ts';
import { runtimeClasses } from '#kube/resources.ts';
import { apiRefused } from '../api-refused.ts';
import { applyObject } from './apply-object.ts';
import { manifestText } from './manifest-text.ts';
import { oneLine, printable, safe } from '../safe-text.ts';
import { openClient } from '../status/connection.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';
import { readRuntimeClassOptions, runtimeClassLine, type RuntimeClassOptions } from './runtime-class-options.ts';

/** Runs `wmco runtimeclass`. */
export async function runtimeClassProgram(words: readonly string[], terminal: LiveTerminal): Promise<ExitCode> {
  const options = readRuntimeClassOptions(words);
  if (options === undefined) {
    terminal.out(printable(commandHelp(runtimeClassLine)));
    return 0;
  }
  if (options.apply) await applyClasses(options, terminal);
  else terminal.out(manifestText(options.versions.map(runtimeClass), options.form), 'data');
  return 0;
}

async function applyClasses(options: RuntimeClassOptions, terminal: LiveTerminal): Promise<void> {
  const client = await openClient(options, terminal);
  const { signal } = terminal;
  try {
    for (const object of options.versions.map(runtimeClass)) {
      const applied = await applyObject(client, runtimeClasses, object, { signal });
      terminal.out(safe`RuntimeClass ${oneLine(object.metadata.name ?? '')} ${oneLine(applied)}\n`);
    }
  } catch (error) {
    throw apiRefused(error, { permission: 'to create and patch RuntimeClasses' });
  } finally {
    await client.close();
  }
}
