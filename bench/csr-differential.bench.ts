import { createClient } from '../src/kube/http-client.ts';
import { startCluster } from '../test/kit/cluster/cluster.ts';
import { compareReadings } from '../test/kit/csr-differential.ts';
import { knownAttacks, mutatedRequests } from '../test/kit/hostile-requests.ts';
import { issuedContent } from '../test/kit/issued-certificate.ts';
import type { Report } from './run.ts';

export const description =
  'hostile certificate requests on a real kube-apiserver: what is issued against what was decided on [REQUESTS] [SEED]';

/** `npm run bench -- csr-differential [REQUESTS] [SEED]`; exit code 1 if an issued certificate differs from the decision. */
export async function run(report: Report, [count = '2000', seed = '1']: readonly string[]): Promise<void> {
  const known = knownAttacks();
  const all = [...known, ...mutatedRequests(Math.max(0, Number(count) - known.length), Number(seed))];
  await using cluster = await startCluster();
  const client = createClient(cluster.adminConfig);
  const start = performance.now();
  const { unstored, judged, differences } = await compareReadings(client, all, () => true);
  const seconds = (performance.now() - start) / 1000;
  await client.close();
  const approved = judged.filter(({ decision }) => decision.do === 'approve');
  const refused = judged.filter(({ decision }) => decision.do === 'refuse');
  const attacks = refused.filter(
    ({ request, certificate }) =>
      certificate !== undefined &&
      request.evil !== undefined &&
      issuedContent(certificate).subject['CN']?.at(-1) === request.evil,
  );
  report('requests', all.length, 'requests');
  report('refused by the server itself', unstored.length, 'requests');
  report('stored', judged.length, 'requests');
  report('approved by us', approved.length, 'requests');
  report('of these issued', approved.filter(({ certificate }) => certificate !== undefined).length, 'certificates');
  report('refused by us', refused.length, 'requests');
  report(
    'of these issued when approved by force',
    refused.filter(({ certificate }) => certificate !== undefined).length,
    'certificates',
  );
  report('of these to another user than a lenient parser finds', attacks.length, 'certificates');
  report('differences between decided and issued', differences.length, 'certificates');
  report('time', seconds, 's');
  for (const difference of differences) console.error(difference);
  if (differences.length > 0) process.exitCode = 1;
}
