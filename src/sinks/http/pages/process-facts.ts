// What the status page says of the process: license, configuration, uptime, version.
import { ageText, agoText, timeText } from '../../../shown/ages.js';
import { markup } from './html.js';
import type { Html } from './html.js';
import type { ConfigurationFacts, LicenseFacts, ServiceFacts } from './service-facts.js';
import { sentence } from '../../../shown/shown-text.js';

/** Digits of a commit that people compare. */
const SHORT_REVISION = 12;

export function processFacts(facts: ServiceFacts, nowMs: number): Html {
  const { version, revision, node, startedMs, license, configuration } = facts;
  return markup`<dl class="facts" id="process">
    <div>
      <dt>License</dt>
      <dd>${licenseFact(license, nowMs)}</dd>
    </div>
    <div>
      <dt>Configuration</dt>
      <dd>${configurationFact(configuration, nowMs)}</dd>
    </div>
    <div>
      <dt>Up for</dt>
      <dd>
        ${ageText((nowMs - startedMs) / 1000)}<span class="sub whole">since ${timeText(startedMs)}</span>
      </dd>
    </div>
    <div>
      <dt>Version</dt>
      <dd>
        ${version}<span class="sub">${
          revision === ''
            ? 'unknown commit'
            : markup`commit <span class="whole">${revision.slice(0, SHORT_REVISION)}</span>`
        },
          Node.js ${node}</span>
      </dd>
    </div>
  </dl>`;
}

function licenseFact(license: LicenseFacts | undefined, nowMs: number): Html {
  if (license === undefined) return markup`<span class="muted">not checked yet</span>`;
  const { state, mood, expiresMs, warning } = license;
  const left = (expiresMs - nowMs) / 1000;
  const when = left >= 0 ? `expires in ${ageText(left)}` : `expired ${ageText(-left)} ago`;
  const remark = warning === '' ? undefined : markup`<span class="sub">${sentence(warning)}</span>`;
  return markup`<span class="state ${mood}">${state}</span> <span class="whole">${when}</span><span class="sub whole">${timeText(expiresMs)}</span>${remark}`;
}

function configurationFact({ takenMs, refusedMs }: ConfigurationFacts, nowMs: number): Html {
  const taken = markup`<span class="sub">in use, taken ${agoText(takenMs, nowMs)}, <span class="whole">${timeText(takenMs)}</span></span>`;
  if (refusedMs === undefined) return markup`<span class="state good">accepted</span>${taken}`;
  return markup`<span class="state bad">last reload refused</span>
    <span class="whole">${agoText(refusedMs, nowMs)}</span><span class="sub">The log has the reasons.</span>${taken}`;
}
