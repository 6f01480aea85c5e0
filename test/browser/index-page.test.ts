// The page that `report` writes over others: from disk, on a narrow screen, on paper, without script, for who hears it.
import { indexPage } from '../../src/report/html/page/index-page.ts';
import { HOSTILE } from '../report/html/page/hostile.ts';
import { testPage } from './page.ts';
import { useBrowser } from './world.ts';

useBrowser();

testPage(
  indexPage([
    { href: 'check.html', file: 'check.html', title: '✓ 20 hold · mine 0.1 · lossproof' },
    { href: 'a%20b.html', file: 'a b.html', title: `✗ 2 fail · ${HOSTILE.join(' ')} · lossproof` },
  ]),
  '2 pages: 1 has failures',
);
