// Tests the DaemonSet for Kubernetes: a reload must read the configuration of a changed ConfigMap.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseAllDocuments } from 'yaml';

interface Container {
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly mountPath: string; readonly subPath?: string }[];
}
interface DaemonSet {
  readonly kind: string;
  readonly spec: { readonly template: { readonly spec: { readonly containers: [Container] } } };
}

describe('deploy/container/daemonset.yaml', () => {
  const text = readFileSync('deploy/container/daemonset.yaml', 'utf8');
  const documents = parseAllDocuments(text).map((document) => document.toJS() as DaemonSet);
  const set = documents.find(({ kind }) => kind === 'DaemonSet');

  it('mounts the configuration as a folder, which Kubernetes updates when the ConfigMap changes', () => {
    const { args = [], volumeMounts = [] } = set?.spec.template.spec.containers[0] ?? {};
    expect(args[0]).to.equal('--config');
    const mount = volumeMounts.find(({ mountPath }) => mountPath === dirname(args[1] ?? ''));
    expect(mount).to.include({ readOnly: true }).and.not.have.property('subPath');
  });

  it('has a probe in a comment, which runs --healthy with the arguments of the exporter', () => {
    const { args = [] } = set?.spec.template.spec.containers[0] ?? {};
    const [, command = ''] = /#.*exec:\n *# *command: \[(.*)\]\n/.exec(text) ?? [];
    expect(command.split(', ').slice(2)).to.deep.equal([...args, '--healthy']);
  });
});
