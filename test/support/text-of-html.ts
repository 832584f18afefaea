// The text of a piece of HTML, as a reader sees it: words with single blanks between them.

export const textOf = (html: string): string =>
  html
    .replaceAll('<wbr>', '')
    .replace(/<span class="whole">([^<]*)<\/span>/g, '$1')
    .replace(/<span class="prefix">([^<]*)<\/span>/g, '$1')
    .replace(/<\/?(a|time)\b[^>]*>|<\/span>(?=[,.:;…])/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ')
    .trim();
