export const packageName = 'windows-machine-config-operator';
export const displayName = 'Windows Machine Config Operator';
export const repository = 'https://github.com/windows-machine-config-operator/operator';
export const provider = { name: 'Windows Machine Config Operator community', url: repository };
/** An address of GitHub that takes no mail: problems belong into the repository. */
export const maintainers = [
  { name: 'Maintainers of the operator', email: 'windows-machine-config-operator@users.noreply.github.com' },
];
export const links = [
  { name: 'Source code and documentation', url: repository },
  { name: 'Changes', url: `${repository}/blob/main/CHANGELOG.md` },
];
export const keywords = ['windows', 'windows server', 'windows containers', 'nodes', 'byoh'];
/** The only one, so it is the default. */
export const channel = 'stable';
