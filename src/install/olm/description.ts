import { defaultNamespace, secretKey, secretName } from '#contract/names.ts';

/** Shown by the web console when it asks whether to uninstall. */
export const uninstallMessage =
  'Windows nodes and their pods keep running without the operator, and a new installation takes them over. To remove ' +
  'them from the cluster, remove the hosts first, and uninstall when `oc get windowsinstances -A` lists none.';

/** Shown by the web console before and after the installation. */
export const description = `The operator turns Windows Server machines into worker nodes of an OpenShift or OKD cluster, keeps them
up to date, and removes them cleanly.

### Before you install

* The cluster needs OVN-Kubernetes with hybrid networking.
* Install into the namespace \`${defaultNamespace}\`; monitoring works only there.
* The catalog of Red Hat has a package of the same name. Choose the one of the catalog that you added.

### After you have installed

Create the Secret with the private key for SSH, which must have no passphrase:

\`\`\`
oc create secret generic ${secretName.privateKey} -n ${defaultNamespace} --from-file=${secretKey.privateKey}=KEYFILE
\`\`\`

Limit what agents on hosts can change (\`deploy/admission/agents.yaml\` of the release; no kind that OLM installs):

\`\`\`
oc apply -f agents.yaml
\`\`\`

### Add hosts

* **Hosts that exist**: an entry in the ConfigMap \`windows-instances\`, such as \`win1.example.com: username=Administrator\`.
* **Machines**: a MachineSet whose Machines have the label \`machine.openshift.io/os-id: Windows\`. The operator creates the
  Secret \`windows-user-data\` for it in \`openshift-machine-api\`.
* **One by one**: a WindowsInstance.

\`oc get windowsinstances -n ${defaultNamespace}\` shows the hosts, and \`oc wmco status\` what to do about one that fails.

### Uninstall

${uninstallMessage}
`;
