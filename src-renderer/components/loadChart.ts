/** A chart and its library: asked for once a view knows that it will draw one. */
export const loadChart = () => import('./ChartCanvas.vue')
