// Checks Kubernetes objects against the published types of Kubernetes and of the Prometheus Operator. The compiler also
// reports fields that do not exist, which Kubernetes may ignore.
import { join } from 'node:path';
import ts from 'typescript';
import { KUBERNETES_TYPES } from './newer-programs.js';

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}

const MODULES: Readonly<Record<string, string>> = {
  'v1/': 'kubernetes-models/',
  'apps/v1/': 'kubernetes-models/',
  'monitoring.coreos.com/v1/': '@kubernetes-models/prometheus-operator/',
};

/** Returns the errors of the compiler; empty if all objects have their types. */
export function typeErrors(objects: readonly KubernetesObject[]): readonly string[] {
  const lines = objects.map((object, index) => {
    const folder = `${object.apiVersion}/`;
    const from = `${MODULES[folder] ?? 'unknown/'}${folder}${object.kind}`;
    return `const o${index}: import('${from}').I${object.kind} = ${JSON.stringify(object)};\n`;
  });
  const text = `${lines.join('')}export {};\n`;
  // The file does not exist. Its folder decides where the compiler finds the packages.
  const file = join(KUBERNETES_TYPES, '../objects.ts');
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
  };
  const host = ts.createCompilerHost(options);
  const fileExists = host.fileExists.bind(host);
  const readFile = host.readFile.bind(host);
  const getSourceFile = host.getSourceFile.bind(host);
  host.fileExists = (name) => name === file || fileExists(name);
  host.readFile = (name) => (name === file ? text : readFile(name));
  host.getSourceFile = (name, version, ...rest) =>
    name === file
      ? ts.createSourceFile(name, text, version, true)
      : getSourceFile(name, version, ...rest);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([file], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
