// The visible text of HTML, with single blanks between words.

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
