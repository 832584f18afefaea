// Recorded damage to segments, and the message that a reader must give for each.
import { expect } from 'chai';
import { pollDamaged } from '../support/poll-damaged.js';
import { sampleSegment } from '../support/sample-segment.js';
import { Corpus, draws, sentenceOf } from './corpus.js';

describe('the corpus of damaged segments', () => {
  const sample = sampleSegment();
  const corpus = Corpus.read();

  it('causes more than fifty different messages', () => expect(corpus.size).to.be.above(50));

  for (const { sentence, seed, index } of corpus)
    it(`has a segment with the verdict "${sentence.replace(/N[xd]N(dNa)?/, 'N')}" (seed ${seed}, draw ${index})`, () => {
      const verdicts = pollDamaged(sample, draws(seed)[index] ?? []);
      expect(verdicts.map(sentenceOf)).to.include(sentence);
    });
});
