// Whether a number is a counter or a gauge, as far as its name says it.

/** Words of levels, which may fall; one of them outweighs any of totals. */
const LEVELS =
  /^(active|age|allocated|available|average|avg|backlog|busy|capacity|configured|current|depth|enabled|fill|free|idle|is|last|latency|length|level|limit|load|max|maximum|mean|min|minimum|mode|num|number|open|outstanding|peak|pending|percent|percentage|pid|pool|port|priority|queue|queued|rate|ratio|remaining|running|size|state|status|temperature|threshold|usage|use|used|utilization|version|waiting|warm)$/;
/** Words of totals, which only rise. */
const TOTALS =
  /^(accepted|accesses|acks|attempts|bytes|calls|closed|closes|collisions|completed|connects|count|created|delayed|deleted|delivered|denials|discarded|disconnects|dropped|drops|dups|errors|events|executed|expired|failed|failures|faults|filtered|forwarded|handled|hits|in|logins|logouts|lost|merged|messages|misses|msgs|naks|opened|opens|operations|ops|out|overflows|packets|polls|processed|published|rcvd|read|reads|rebooted|reboots|received|recv|refused|rejected|rejections|replies|requests|resets|responses|restarts|resyncs|retransmits|retries|sales|sent|served|sold|stalls|started|timeouts|total|totals|transmitted|tx|rx|updates|writes|written)$/;

/** @param words of a name, in lower case */
export function numberType(words: readonly string[]): 'counter' | 'gauge' {
  if (words.some((word) => LEVELS.test(word))) return 'gauge';
  return words.some((word) => TOTALS.test(word)) ? 'counter' : 'gauge';
}
