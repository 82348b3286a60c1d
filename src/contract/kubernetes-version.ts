/** Whether the gitVersion of a kubelet or API server is 1.`wantedMinor` or newer; an invalid one counts as old. */
export function isKubernetesAtLeast(gitVersion: string, wantedMinor: number): boolean {
  const [, major = '0', minor = '0'] = /^v(\d{1,5})\.(\d{1,5})/.exec(gitVersion) ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= wantedMinor);
}
