import type { NewCondition } from '#base/condition.ts';
import { sentence } from '#base/trim-end.ts';
import { recordEvent } from '#cluster/instance-events.ts';
import { eventText } from '#contract/events.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { describeKey, publicKeyHash } from '#host/keys/public-key.ts';
import { keyAccepted } from '#node/lifecycle/instance-status.ts';
import { RekeyJourney } from '#node/lifecycle/rekey/journey.ts';
import { rekey } from '#node/lifecycle/rekey/steps.ts';
import { failureText, keyFailureEvents } from '../events.ts';
import type { JourneyKind, JourneyParts } from './run-journey.ts';

export const rekeyKind: JourneyKind<RekeyJourney> = {
  name: 'rekey',
  run: rekey,
  phase: 'Rekeying',
  create: (instance, deps, record) => new RekeyJourney(instance, deps, record),
  needsAcceptance: true,
  failure: error => error,
  failureEvents: keyFailureEvents,
  finish: async (journey, parts, log) => {
    const { node, record, wait, address } = journey;
    if (node === undefined) return;
    if (wait === undefined) log.info('Host accepts the current SSH key', { Node: node.name, address });
    else log.warn('Host rejects the current SSH key; using the former one', { Node: node.name, error: wait });
    report(journey, parts);
    await record.finish(node, parts.version, conditionsOf(journey));
  },
};

/** Once for each key; nothing when only the Node had to be marked. */
function report({ instance, wait, keys, address, leftovers }: RekeyJourney, { recorder }: JourneyParts): void {
  for (const { key, problem } of leftovers)
    recordEvent(recorder, instance, eventText.formerKeyKept(address, key, failureText(problem, instance)));
  if (keys?.current === undefined) return;
  const { current } = keys;
  const { hash, pending } = instance.status?.key ?? {};
  const wanted = publicKeyHash(current.publicKey);
  if (wait === undefined && hash !== wanted)
    recordEvent(recorder, instance, eventText.keyAccepted(address, describeKey(current.publicKey)));
  if (wait !== undefined && pending?.hash !== wanted)
    recordEvent(recorder, instance, eventText.keyOutdated(failureText(wait, instance)));
}

function conditionsOf({ instance, wait }: RekeyJourney): NewCondition[] {
  if (wait === undefined) return keyAccepted(instance);
  const message = `${sentence(wait.message)} ${wait.remedy}`;
  return [{ type: instanceCondition.keyCurrent, status: 'False', reason: wait.code, message }];
}
