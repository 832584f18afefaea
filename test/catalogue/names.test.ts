// Tests the names of metrics without a catalogue: no repeated words, a base unit, and the suffix of the type.
import { expect } from 'chai';
import fc from 'fast-check';
import { BASE_UNITS, declaredName } from '#app/catalogue/names.js';
import type { DeclaredNameParts } from '#app/catalogue/names.js';
import type { MetricType } from '#app/model.js';
import { anyCharacter } from '../support/any-character.js';

const NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

const named = (
  [app, className, variable]: readonly [string, string, string],
  type: MetricType = 'gauge',
  unit = '',
): string => declaredName({ app, className, variable, type, unit });

describe('declaredName', () => {
  const words: readonly (readonly [string, string, string, string])[] = [
    ['shop', 'Till', 'openDrawers', 'shop_till_open_drawers'],
    ['shop', 'Shop', 'sales', 'shop_sales'],
    ['shop', 'shop', 'shopSales', 'shop_sales'],
    ['shop', 'ShopTill', 'sales', 'shop_till_sales'],
    ['shop', 'Till', 'till.sales', 'shop_till_sales'],
    ['shop', 'ShopTill', 'shop till sales', 'shop_till_sales'],
    ['cash_desk', 'CashDeskDrawer', 'drawerCoins', 'cash_desk_drawer_coins'],
    ['shop', 'Till', 'shopSales', 'shop_till_shop_sales'],
    ['shop', 'Shopping', 'sales', 'shop_shopping_sales'],
    ['shop', 'Workshop', 'sales', 'shop_workshop_sales'],
    ['shop', 'Till', 'tills', 'shop_till_tills'],
    ['shop', 'Till', 'tillTill', 'shop_till_till'],
    ['shop', '#', 'sales', 'shop_sales'],
    ['shop', 'Till', '#', 'shop_till'],
    ['shop', 'Shop', 'shop', 'shop_value'],
    ['shop', '#', '#', 'shop_value'],
    ['shop', 'Till', '温度', 'shop_till_u6e29u5ea6'],
    ['shop', '温度', '度x', 'shop_u6e29u5ea6_u5ea6_x'],
    ['shop', 'Till', 'größe', 'shop_till_gr_uf6udf_e'],
    ['shop', 'Till', 'wait µs', 'shop_till_wait_ub5_s'],
    ['shop', 'Till', '“open” – 😀', 'shop_till_open_u1f600'],
    ['лавка', 'Till', 'sales', 'u43bu430u432u43au430_till_sales'],
  ];
  for (const [app, className, variable, name] of words)
    it(`returns ${name} for variable ${variable} in class ${className} of application ${app}`, () =>
      expect(named([app, className, variable])).to.equal(name));

  it('returns different names for different words with Cyrillic, Chinese and other letters', () => {
    const word = fc.stringMatching(/^[а-яäöü漢字0-9a-z]{1,4}$/u);
    fc.assert(
      fc.property(word, word, (one, other) => {
        const names = [one, other].map((variable) => named(['shop', 'Till', `v_${variable}`]));
        expect(names[0] === names[1]).to.equal(one === other);
      }),
    );
  });

  const endings: readonly (readonly [string, MetricType, string, string])[] = [
    ['received', 'counter', 'bytes', 'x_session_received_bytes_total'],
    ['received_total', 'counter', 'bytes', 'x_session_received_bytes_total'],
    ['receivedBytes', 'counter', 'bytes', 'x_session_received_bytes_total'],
    ['bytesReceived', 'counter', 'bytes', 'x_session_bytes_received_total'],
    ['received', 'counter', '', 'x_session_received_total'],
    ['total', 'counter', '', 'x_session_total'],
    ['delay', 'gauge', 'seconds', 'x_session_delay_seconds'],
    ['delay', 'unknown', 'seconds', 'x_session_delay_seconds'],
    ['delay', 'histogram', 'seconds', 'x_session_delay_seconds'],
    ['delay', 'summary', 'seconds', 'x_session_delay_seconds'],
    ['delay', 'gauge', 'milliseconds', 'x_session_delay'],
    ['delay', 'gauge', 'Seconds', 'x_session_delay'],
    ['price', 'gauge', 'cents', 'x_session_price'],
    ['name', 'info', '', 'x_session_name_info'],
    ['info', 'info', '', 'x_session_info'],
    ['name', 'info', 'bytes', 'x_session_name_info'],
  ];
  for (const [variable, type, unit, name] of endings)
    it(`returns ${name} for ${variable} of type ${type} ${unit === '' ? 'without a unit' : `in ${unit}`}`, () =>
      expect(named(['x', 'Session', variable], type, unit)).to.equal(name));

  it('does not repeat a unit that the class name contains, but repeats a unit that only the application name contains', () => {
    expect(named(['x', 'DiskBytes', 'free'], 'gauge', 'bytes')).to.equal('x_disk_bytes_free');
    expect(named(['meters', 'Flow', 'length'], 'gauge', 'meters')).to.equal(
      'meters_flow_length_meters',
    );
  });

  for (const unit of BASE_UNITS)
    it(`appends the base unit ${unit}`, () =>
      expect(named(['x', 'Y', 'z'], 'gauge', unit)).to.equal(`x_y_z_${unit}`));

  it('returns a name that begins with the application, ends with the variable, and has no word twice in a row', () => {
    const part = fc
      .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 4 })
      .map((each) => each.join('_'));
    const parts = { app: part, className: part, variable: part };
    fc.assert(
      fc.property(fc.record(parts), (nameParts) => {
        const name = declaredName({ ...nameParts, unit: '', type: 'counter' });
        const stem = name.replace(/_total$/, '');
        expect(`${stem}_`.startsWith(`${nameParts.app}_`), name).to.be.true;
        expect(`_${stem}`.endsWith(`_${nameParts.variable}`), name).to.be.true;
        expect(name, 'twice in a row').not.to.match(/([a-d])_\1_/);
      }),
    );
  });

  it('returns a valid Prometheus name that begins with the application', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 12 });
    const nameParts: fc.Arbitrary<DeclaredNameParts> = fc.record({
      app: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,9}$/),
      className: text,
      variable: text,
      unit: fc.oneof(fc.constantFrom(...BASE_UNITS), text),
      type: fc.constantFrom('counter', 'gauge', 'histogram', 'summary', 'info', 'unknown'),
    });
    fc.assert(
      fc.property(nameParts, (each) => {
        const name = declaredName(each);
        expect(name).to.match(NAME);
        const shortest = declaredName({ ...each, className: '', variable: '', unit: '' });
        expect(name.split('_').length).to.be.at.least(shortest.split('_').length);
        if (each.type === 'counter') expect(name).to.match(/_total(_value)?$/);
      }),
    );
  });
});
