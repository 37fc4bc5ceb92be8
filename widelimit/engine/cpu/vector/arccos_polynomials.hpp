#pragma once

/// With t = 1 − ρ on [0, 1]:  arccos ρ = √t·P(t)  and  √(1−ρ²) − ρ·arccos ρ = √t·t·Q(t).    [docs/theory/numerics.md]
/// Made by tools/arccos_polynomials.py: relative error 2e-8 (float) and 8e-16 (double).
namespace widelimit::cpu {

template <typename T>
struct ArccosPolynomials;

template <>
struct ArccosPolynomials<float> {
  static constexpr float p[] = {1.41421355f,    0.117853167f,   0.0264744825f,   0.00821673096f,
                                0.00147885982f, 0.00333841701f, -0.00199064296f, 0.00121173777f};
  static constexpr float q[] = {0.942809052f,    0.0471393947f,    0.00759271726f, 0.00165828471f,
                                0.000742261975f, -0.000176200355f, 0.000234471367f};
};

template <>
struct ArccosPolynomials<double> {
  static constexpr double p[] = {1.4142135623730957,      0.11785113019737604,     0.026516504331006889,
                                 0.0078918153772123383,   0.0026854371061009403,   0.00098839353972065053,
                                 0.00038599939353290006,  0.0001404397437549898,   0.00011751441832351232,
                                 -0.00012489385707342216, 0.00032798765063960069,  -0.00048084043450069599,
                                 0.0005465152188945226,   -0.00043277338031501358, 0.00023452832501033831,
                                 -7.7124653855844187e-5,  1.2131445971917301e-5};
  static constexpr double q[] = {
      0.94280904158206318,    0.047140452079196879,   0.0075761440762111424,  0.0017537373208373014,
      0.00048825173184814994, 0.00015215897814150764, 5.0794827224608686e-5,  1.9709938262123642e-5,
      1.5278417097128901e-6,  1.5020887529206178e-5,  -2.0639363392083814e-5, 2.7485602791885912e-5,
      -2.3692448943431393e-5, 1.419627927635765e-5,   -5.0732811635324977e-6, 8.8394840665711491e-7};
};

/// One degree less each in float, relative error 1.5e-7: planes carry Σ, rounded anew in every layer, and no digits of
/// t that more would keep. [docs/theory/convolution.md]
template <typename T>
struct PlanePolynomials : ArccosPolynomials<T> {};

template <>
struct PlanePolynomials<float> {
  static constexpr float p[] = {1.41421368f,    0.117840037f,    0.0266900077f, 0.00689672925f,
                                0.00531428555f, -0.00236626583f, 0.002207656f};
  static constexpr float q[] = {0.94280895f,    0.0471470042f,   0.00750176142f,
                                0.00205370336f, -3.17693305e-5f, 0.000520202198f};
};

}  // namespace widelimit::cpu
