/** The views in the order of the rail. A view is a folder under views/ and one line here. */
import type { Component } from 'vue'
import type { IconName } from '../components/icons'

export interface View {
  id: string
  title: string
  icon: IconName
  /** What a person comes for, in the palette and as the rail's tooltip. */
  purpose: string
  load: () => Promise<{ default: Component }>
}

export const views: readonly View[] = [
  {
    id: 'devices',
    title: 'Devices',
    icon: 'chip',
    purpose: 'Devices, capability matrix, libraries',
    load: () => import('../views/devices/DevicesView.vue')
  },
  {
    id: 'validate',
    title: 'Validate',
    icon: 'check',
    purpose: 'Check every format and kernel against the float64 reference',
    load: () => import('../views/validate/ValidateView.vue')
  },
  {
    id: 'sweep',
    title: 'Sweep',
    icon: 'chart',
    purpose: 'Measure kernels over K',
    load: () => import('../views/sweep/SweepView.vue')
  },
  {
    id: 'formats',
    title: 'Formats',
    icon: 'numbers',
    purpose: 'Bits, ranges, codes and quantisation error of the formats',
    load: () => import('../views/formats/FormatsView.vue')
  },
  {
    id: 'layouts',
    title: 'Layouts',
    icon: 'grid',
    purpose: 'Where each scale lies: layouts, offsets, real bytes',
    load: () => import('../views/layouts/LayoutsView.vue')
  },
  {
    id: 'profile',
    title: 'Profile',
    icon: 'flame',
    purpose: 'Profile trees, filters and differences',
    load: () => import('../views/profile/ProfileView.vue')
  },
  {
    id: 'runs',
    title: 'Runs',
    icon: 'stack',
    purpose: 'History, comparison, import and export',
    load: () => import('../views/runs/RunsView.vue')
  }
]

export const firstView = 'validate'

/** The view of this id, or the first one. */
export const viewNamed = (id: string): View =>
  views.find((view) => view.id === id) ?? views.find((view) => view.id === firstView)!

export const hasView = (id: string): boolean => views.some((view) => view.id === id)
