/** Where the page begins: the token out of the address, then the frame. */
import { render } from 'preact';
import { keepToken } from './io/api.ts';
import { place, start } from './io/live.ts';
import { placeOf, tokenIn } from './lib/route.ts';
import { App } from './ui/app.tsx';
import { onKey } from './ui/keys.ts';

function takeToken(): void {
  const token = tokenIn(location.hash);
  if (token === null) return;
  keepToken(token);
  history.replaceState(null, '', `${location.pathname}#/`);
}

takeToken();
place.value = placeOf(location.hash);
addEventListener('hashchange', () => {
  takeToken();
  place.value = placeOf(location.hash);
  scrollTo(0, 0);
});
document.addEventListener('keydown', onKey);
start();
render(<App />, document.getElementById('app')!);
