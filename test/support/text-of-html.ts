// The text of a piece of HTML, as a reader sees it: words with single blanks between them.

export const textOf = (html: string): string =>
  html
    .replaceAll('<wbr>', '')
    .replace(/<\/?(span class="whole"|a|time|b|i)\b[^>]*>|<\/span>(?=[,.:;…])/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ')
    .trim();
