import { attempt } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import { dir } from '#contract/paths.ts';
import type { Files } from '../ports.ts';

/** Written by an agent that reached the API server during a swap; in a folder that no user can write to. */
export const reportedFile = `${dir.agentPrograms}\\reported.json`;

/** Which agent program has reported, and in which boot. */
export interface Reported {
  agent: string;
  bootId: string;
}

export async function hasReported(wanted: Reported, files: Files): Promise<boolean> {
  const text = (await files.read(reportedFile)) ?? '';
  const read = attempt(() => {
    const fields = new Fields(jsonIn(text), reportedFile);
    return { agent: fields.requiredString('agent'), bootId: fields.requiredString('bootId') };
  });
  return read.ok && read.value.agent === wanted.agent && read.value.bootId === wanted.bootId;
}

export async function writeReported(reported: Reported & { time: string }, files: Files): Promise<void> {
  await files.write(reportedFile, `${JSON.stringify(reported)}\n`, 'secret');
}
